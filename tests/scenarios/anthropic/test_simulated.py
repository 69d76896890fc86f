"""The app calls the simulator over Anthropic's API: both loops, thinking, caching, endings and faults."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox import RunError, Runner, Upstream
from signalbox.simulator.http.server import BackgroundSimulator

from tests.support.running_app import RunningApp, settings_for

QUESTION = "Search for replay, then calculate 2+2"


@pytest.fixture(scope="module")
def simulator() -> Iterator[BackgroundSimulator]:
    """Serve all APIs of the simulator."""
    with BackgroundSimulator() as running:
        yield running


@pytest.fixture(scope="module", params=[True, False], ids=["v2", "legacy"])
def app(
    request: pytest.FixtureRequest, simulator: BackgroundSimulator, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApp]:
    """Run the app on Anthropic's API, with each of the loops."""
    base_url = simulator.base_url.replace("/api/v1", "/anthropic")
    folder: Path = tmp_path_factory.mktemp("data")
    settings = settings_for(
        folder, openrouter_base_url=base_url, openrouter_api_key="sk-test", tool_loop_v2=request.param
    )
    with RunningApp(settings) as running:
        yield running


def events_of(app: RunningApp, model: str, question: str = QUESTION, **fields: Any) -> list[dict[str, Any]]:
    """Run a question and return the events."""
    body = {"model": model, "messages": [{"role": "user", "content": question}], **fields}
    answer = app.client.post("/api/chat/stream", json=body)
    assert answer.status_code == 200, answer.text
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]


def requests_in(simulator: BackgroundSimulator, since: int) -> list[dict[str, Any]]:
    """Return the bodies of the requests for answers."""
    return [asked.body for asked in simulator.state.requests[since:] if asked.path.endswith("/v1/messages")]


@pytest.mark.parametrize(
    "model", ["claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-4-8", "claude-sonnet-5", "sim"]
)
def test_a_tool_loop_with_thinking(app: RunningApp, simulator: BackgroundSimulator, model: str) -> None:
    """Each step sends back what the API sent, whose signatures the simulator verifies; the prefix does not change."""
    since = len(simulator.state.requests)
    *_, done = events = events_of(app, model, reasoning={"effort": "high"})
    assert (done["status"], done["steps"]) == ("complete", 3)
    assert sum(event["type"] == "tool_result" for event in events) == 2
    first, *later = requests_in(simulator, since)
    for request in later:
        count = len(first["messages"])
        assert json.dumps({**request, "messages": request["messages"][:count]}) == json.dumps(
            {**first, "stream": request["stream"]}
        )
        turn = request["messages"][count]
        assert {block["type"] for block in turn["content"]} & {"thinking", "redacted_thinking"}
    if model.startswith("claude"):
        assert done["usage"]["cached"] > 1_000


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("model", "status", "code"),
    [
        ("sim-redacted", "complete", None),
        ("sim-server-search", "complete", None),
        ("sim-unknown", "complete", None),
        ("sim-pause", "complete", None),
        ("sim-window", "length", "LENGTH"),
        ("sim-error-529", "error", "UPSTREAM_OVERLOADED"),
        ("sim-error-401", "error", "UPSTREAM_AUTH"),
    ],
)
async def test_endings(simulator: BackgroundSimulator, model: str, status: str, code: str | None) -> None:
    """Every ending of the API has its status and code."""
    upstream = Upstream(simulator.base_url.replace("/api/v1", "/anthropic"), "sk-test")
    try:
        answer = await Runner(upstream, model, "Hello", reasoning={"effort": "low"}).answer()
    except RunError as error:
        answer = error.answer
    assert (answer.status, answer.code) == (status, code)


def test_a_forced_call(app: RunningApp) -> None:
    """A forced call works while reasoning is on, for Claude and for other models."""
    for model in ("claude-opus-4-8", "claude-sonnet-5", "sim"):
        *_, done = events_of(app, model, "What is 17 * 23?", tool_choice="required", reasoning={"effort": "low"})
        assert done["status"] == "complete"


def test_the_last_step_calls_no_tool(app: RunningApp, simulator: BackgroundSimulator) -> None:
    """The answer at the limit of steps is asked for with `tool_choice: none`."""
    since = len(simulator.state.requests)
    *_, done = events_of(app, "claude-sonnet-4-6", max_steps=2)
    assert done["status"] == "complete"
    assert requests_in(simulator, since)[-1]["tool_choice"] == {"type": "none"}
