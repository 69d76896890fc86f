"""Errors in a plugin's thread are logged, up to a limit."""

import asyncio

import pytest
from signalbox.tools import plugin_thread
from signalbox.tools.plugin_thread import PluginThread
from structlog.testing import capture_logs

LONGEST = 10.0


def _flood() -> None:
    for _ in range(10):
        asyncio.get_running_loop().call_soon(_fail)


def _fail() -> None:
    raise ValueError("secret")


def test_a_flood_of_failures_is_a_few_lines_and_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback that fails constantly is logged a limited number of times, then counted."""
    monkeypatch.setattr(plugin_thread, "MOST_LINES", 3)
    monkeypatch.setattr(plugin_thread, "SECONDS", 0.0)
    with capture_logs() as lines:
        thread = PluginThread("flood")
        try:
            thread.load(_flood, LONGEST)
            for _ in range(3):  # each is at least one turn of the plugin's loop: the failures, the timer, the sum
                thread.load(dict, LONGEST)
        finally:
            thread.close()
    assert [line["event"] for line in lines] == ["plugin.failed"] * 3 + ["plugin.failures_suppressed"]
    assert lines[-1]["more"] == 7
    assert "secret" not in str(lines)
