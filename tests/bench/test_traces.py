"""The row `traces`: the same loads on a server that exports traces and on one that does not."""

from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from tests.bench import traces
from tests.bench.rig import Rig

# CPU seconds of a load, by server.
COSTS = {"traces-off": 0.2, "traces-on": 0.3}


def test_both_servers_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one of them knows the collector, which accepts spans."""
    settings: dict[str, dict[str, str]] = {}
    asked: list[str] = []

    def server(name: str, **variables: str) -> str:
        settings[name] = variables
        if url := variables.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
            assert httpx.post(f"{url}/v1/traces", content=b"spans", trust_env=False, verify=False).status_code == 200
        return name

    def cpu(rig: object, load: Any, name: str, streams: int) -> float:
        asked.append(name)
        return COSTS[name]

    monkeypatch.setattr(traces, "_cpu", cpu)
    ended: list[object] = []
    rig = SimpleNamespace(server=server, end=ended.append)
    figures = {(one.row, one.name): one.values for one in traces.traces_figures(cast("Rig", rig), 3, quick=True)}
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" not in settings["traces-off"]
    assert figures["traces-tools", traces.OFF] == pytest.approx((2.0,) * 3)
    assert figures["traces-tools", traces.ADDED] == pytest.approx((1.0,) * 3)
    assert figures["traces-short", traces.RATIO] == pytest.approx((1.5,) * 3)
    assert asked.count("traces-on") == asked.count("traces-off") == 2 * (1 + 3)
    assert ended == ["traces-off", "traces-on"]
