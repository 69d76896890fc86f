"""A changed flag override notifies the other workers, so that they need not poll."""

from pathlib import Path

import pytest
from signalbox.flags import shared_override

from tests.support.running_app import RunningApp, settings_for
from tests.support.workers import within

TOKEN = "the-operators-token"
OVERRIDE = "/api/flags/tool_loop_v2"


def test_a_pull_is_heard_without_looking(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two workers that never poll, the other one follows the notification; health reports it, too."""
    monkeypatch.setattr(shared_override, "_REFRESH_SECONDS", 1000)
    shared = {"database_url": postgres_url, "signalbox_admin_token": TOKEN, "tool_loop_v2": None}
    (tmp_path / "a").mkdir()
    with RunningApp(settings_for(tmp_path / "a", **shared)) as one, RunningApp(settings_for(tmp_path, **shared)) as two:
        assert two.client.get("/health/ready").json()["loop"] == "v2"
        # A notification reaches only listening workers, so the first change is repeated until one is received.
        within(30, lambda: _is_heard(one, two, "off"))
        assert two.client.get("/health/ready").json()["loop"] == "legacy"
        one.client.put(OVERRIDE, json={"state": "on"}, headers={"authorization": f"Bearer {TOKEN}"})
        within(4.0, lambda: two.client.get(OVERRIDE).json()["state"] == "on")
        assert two.ask("Hello!", tools=[]).done["loop"] == "v2"


def _is_heard(one: RunningApp, two: RunningApp, state: str) -> bool:
    one.client.put(OVERRIDE, json={"state": state}, headers={"authorization": f"Bearer {TOKEN}"})
    return two.client.get(OVERRIDE).json()["state"] == state
