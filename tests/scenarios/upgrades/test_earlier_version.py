"""A database of version 0.1, opened by the current server: runs, saves and conversations work in the current format."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.replay.journals import parse_snapshot

from tests.support.running_app import RunningApp, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, says
from tests.support.stream_reader import check_stream
from tests.support.version_0_1 import COMPLETE, OPEN, SAVE, STOPPED, make_file

TWO = ['{"expression":"6*7"}', '{"qu']


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    """Run a provider that answers with text."""
    with ScriptedUpstream(says("Fine.")) as scripted:
        yield scripted


@pytest.fixture(scope="module")
def app(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Start on a database of version 0.1 with an unfinished run."""
    data = tmp_path_factory.mktemp("earlier")
    make_file(data / "signalbox.db")
    settings = settings_for(data, openrouter_base_url=upstream.base_url, openrouter_api_key="sk-test")
    with RunningApp(settings) as running:
        yield running


def texts(events: list[dict[str, Any]]) -> list[str]:
    """Return the arguments of all calls in these events."""
    return [call["arguments"] for event in events if event["type"] == "tool_calls" for call in event["calls"]]


@pytest.mark.parametrize("path", [f"/api/runs/{COMPLETE}/events", f"/api/saves/{SAVE}/events"])
def test_streams_are_todays(app: RunningApp, path: str) -> None:
    """An old run and a save of it keep the contract, from the start and after a resume."""
    assert texts(check_stream(app.client.get(path).content).events) == TWO
    start_app = check_stream(app.client.get(path, params={"after": 1}).content, resumed=True)
    assert (texts(start_app.events), start_app.seqs[0]) == (TWO, 2)


@pytest.mark.parametrize("path", [f"/api/runs/{COMPLETE}", f"/api/saves/{SAVE}"])
def test_traces_are_todays(app: RunningApp, path: str) -> None:
    """Traces of runs and saves have the current format."""
    told = app.client.get(path).json()
    tools = told.get("trace", told)["tools"]
    assert [tool["arguments"] for tool in tools] == TWO
    assert "arguments_raw" not in json.dumps(told)


def test_saves_and_exports_hold_todays_events(app: RunningApp) -> None:
    """JSON has the current events; Markdown has both texts unchanged."""
    assert texts(app.client.get(f"/api/saves/{SAVE}").json()["events"]) == TWO
    messages = app.client.get("/api/conversations/talk-1/export", params={"format": "json"}).json()["messages"]
    assert texts(messages[1]["events"]) == TWO
    text = app.client.get("/api/conversations/talk-1/export").text
    assert "`calculate` with `" + TWO[0] in text
    assert "`search_web` with `" + TWO[1] in text


def test_a_run_under_way_was_ended(app: RunningApp) -> None:
    """Its open call has a result, and the stream is complete."""
    heard = check_stream(app.client.get(f"/api/runs/{OPEN}/events").content)
    assert (texts(heard.events), heard.done["status"]) == (['{"minutes":5}'], "interrupted")
    assert heard.result_codes() == ["STEP_FAILED"]


@pytest.mark.parametrize(("conversation", "run"), [("talk-2", STOPPED), ("talk-3", OPEN)])
def test_a_conversation_goes_on(app: RunningApp, upstream: ScriptedUpstream, conversation: str, run: str) -> None:
    """The model receives the cut call with the arguments of the call."""
    app.ask("Go on.", conversation_id=conversation, tools=[])
    [said] = [m for m in upstream.asked[-1].body["messages"] if m.get("tool_calls")]
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == {"minutes": 5}
    assert said["content"] == "Wait."


def test_a_save_in_a_file_is_replayed(app: RunningApp, tmp_path: Path) -> None:
    """A save file of version 0.1 can be replayed: its calls find their results."""
    save = app.client.get(f"/api/saves/{SAVE}").json()
    for event in save["events"]:
        for call in event.get("calls", []):
            is_object = call["arguments"].endswith("}")
            raw = {} if is_object else {"arguments_raw": call["arguments"]}
            call |= {"arguments": json.loads(call["arguments"]) if is_object else {}, **raw}
    calls = parse_snapshot(json.dumps(save).encode(), "a file").calls
    assert [(call.name, call.arguments) for call in calls] == [("calculate", {"expression": "6*7"}), ("search_web", {})]
