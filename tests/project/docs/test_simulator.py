"""The upstreams.toml of docs/simulator.md works with a simulator as `signalbox simulate` starts it."""

from pathlib import Path

import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.project.docs.pages import page
from tests.support.running_app import RunningApp, settings_for

PAGE = page("simulator.md")


def test_the_simulator_as_a_native_upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each listed model answers through the native API, and the fault is a cut stream."""
    monkeypatch.setenv("SIMULATOR_KEY", "any")
    [text] = PAGE.blocks("toml")
    assert "http://127.0.0.1:8001/" in text
    with BackgroundSimulator(list_faults=False) as simulator:
        file = tmp_path / "upstreams.toml"
        file.write_text(text.replace("127.0.0.1:8001", f"{simulator.host}:{simulator.port}"), encoding="utf-8")
        with RunningApp(settings_for(tmp_path / "data", signalbox_upstreams=file)) as app:
            ended = {model: app.ask(model=model) for model in ("sim", "claude-sonnet-4-5", "sim-cut")}
    assert [heard.done["status"] for heard in ended.values()] == ["complete", "complete", "interrupted"]
    assert {request.path for request in simulator.state.requests} == {"/anthropic/v1/messages"}
