"""The client's types are those of the server: events, answers, questions, responses, codes."""

from dataclasses import fields
from typing import Any, get_type_hints

import msgspec
import pytest
from signalbox.core import events
from signalbox_client import bodies
from signalbox_client.answers import answer_of
from signalbox_client.events import EVENTS, Done, Event, ToolResult, event_of
from signalbox_client.retries import Frames

from tests.scenarios.contract.golden import FIXTURES
from tests.scenarios.python_client.conftest import read_run
from tests.support.running_app import RunningApp
from tests.support.stream_reader import check_stream

GOLDEN = sorted(FIXTURES.glob("*.sse"))
BODIES = {
    "ConversationInfo": bodies.ConversationInfo,
    "ConversationHead": bodies.ConversationHead,
    "ConversationSummary": bodies.ConversationSummary,
    "Conversation": bodies.Conversation,
    "Node": bodies.Node,
    "RunSummary": bodies.RunSummary,
    "RunTrace": bodies.RunTrace,
    "StoppedRun": bodies.StoppedRun,
    "SaveSummary": bodies.SaveSummary,
    "Save": bodies.Save,
    "FileVersion": bodies.FileVersion,
    "File": bodies.File,
    "RunStatsList": bodies.RunStatsList,
    "StatsBucket": bodies.StatsBucket,
    "StatsPercentiles": bodies.StatsPercentiles,
    "Spend": bodies.Spend,
    "SpendRow": bodies.SpendRow,
    "SpendTotal": bodies.SpendTotal,
}


def test_every_field_of_the_contract_has_an_attribute() -> None:
    """Events and their parts have all fields of contract v1.1, and no others."""
    envelope = {field.name for field in fields(Event)} | {"done"}
    for made in (*EVENTS.values(), *_parts()):
        server = getattr(events, {"Usage": "UsageTotals"}.get(made.__name__, made.__name__))
        assert {field.name for field in fields(made)} - envelope == {
            field.name for field in msgspec.structs.fields(server)
        } - envelope


def _parts() -> list[Any]:
    return [EVENTS["done"].__dataclass_fields__[name].type.__args__[0] for name in ("usage", "flag", "unsaved")]


def test_every_golden_stream_is_read(subtests: pytest.Subtests) -> None:
    """All events arrive in order, whether a stream comes in one piece or byte by byte."""
    assert GOLDEN
    for path in GOLDEN:
        with subtests.test(path.stem):
            stream = path.read_bytes()
            whole = list(Frames("").feed(stream))
            frames = Frames("")
            assert [event for at in range(len(stream)) for event in frames.feed(stream[at : at + 1])] == whole
            heard = check_stream(stream)
            assert [(event.seq, event.raw) for event in whole] == list(zip(heard.seqs, heard.events, strict=True))
            assert all(type(event) is EVENTS[event.type] for event in whole)


def test_what_later_versions_add_is_kept() -> None:
    """Unknown types become an `Event`; unknown fields of events and of their parts stay in `raw`."""
    later = event_of(7, {"type": "plan", "content": "1. Read", "result": 1, "seq": 0, "raw": 0})
    assert (type(later), later.type, later.seq, later.raw["content"]) == (Event, "plan", 7, "1. Read")
    result = {"success": True, "result": 1, "unit": "m"}
    known = event_of(8, {"type": "tool_result", "id": "a", "name": "b", "result": result, "colour": "red"})
    assert isinstance(known, ToolResult)
    assert (known.result.result, known.raw["colour"]) == (1, "red")
    ended = event_of(9, {"type": "done", "done": True, "status": "postponed", "usage": {"input": 1, "water": 2}})
    assert isinstance(ended, Done)
    assert (ended.status, ended.usage and ended.usage.input) == ("postponed", 1)


@pytest.mark.parametrize("prompt", ["What is 17 * 23?", "Find a cheap laptop and cite your sources.", "Hello!"])
def test_an_answer_is_the_servers_whole_answer(app: RunningApp, prompt: str) -> None:
    """The answer from a stream equals the JSON of `POST /api/chat` with the same key."""
    _, answer = read_run("sync", app.url, prompt=prompt, idempotency_key=prompt, conversation_id="one")
    body = {"model": "openai/sim", "prompt": prompt, "conversation_id": "one", "on_disconnect": "continue"}
    whole = app.client.post("/api/chat", json=body, headers={"idempotency-key": prompt}).json()
    assert whole["run_id"] == answer.run_id
    assert (whole["text"], whole["reasoning"], whole["status"]) == (answer.text, answer.reasoning, answer.status)
    assert (whole["conversation_id"], whole["message_id"]) == (answer.conversation_id, answer.message_id)
    assert [(call["id"], call["result"]["success"]) for call in whole["calls"]] == [
        (call.id, call.outcome and call.outcome.success) for call in answer.calls
    ]
    assert [warning["message"] for warning in whole["warnings"]] == [warning.message for warning in answer.warnings]
    assert (whole["cost"], whole["usage"]["output"]) == (
        answer.done.cost,
        answer.done.usage and answer.done.usage.output,
    )


def test_offsets_of_sources_are_positions_in_the_whole_text() -> None:
    """Offsets count in the text of their step, without the break before it."""
    steps: list[dict[str, Any]] = [
        {"type": "content", "content": "One."},
        {"type": "tool_calls", "calls": [{"id": "a", "name": "b", "arguments": "{}"}], "step": 1},
        {"type": "content", "content": "\n\n"},
        {"type": "content", "content": "Two."},
        {
            "type": "content",
            "content": "",
            "sources": [{"n": 1, "url": "u", "title": "t", "start_index": 0, "end_index": 4}],
        },
        {"type": "done", "done": True, "status": "complete"},
    ]
    answer = answer_of([event_of(seq, raw) for seq, raw in enumerate(steps, 1)], "r", None, None)
    [source] = answer.sources
    assert answer.text[source.start_index : source.end_index] == "Two."
    assert answer.calls[0].outcome is None


def test_an_answer_has_no_event_that_a_crash_lost() -> None:
    """Events that the server could not save are not part of the answer."""
    steps: list[dict[str, Any]] = [
        {"type": "content", "content": "Saved."},
        {"type": "content", "content": "Lost."},
        {"type": "done", "done": True, "status": "interrupted", "unsaved": {"after": 1, "before": 3}},
    ]
    assert answer_of([event_of(seq, raw) for seq, raw in enumerate(steps, 1)], "r", None, None).text == "Saved."


def test_the_types_of_bodies_are_the_servers(app: RunningApp) -> None:
    """The names of all fields, of the parameters of a question and of filters are those of the OpenAPI document."""
    document = app.client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    filters = {one["name"] for one in document["paths"]["/api/runs.ndjson"]["get"]["parameters"]}
    assert {"status", *get_type_hints(bodies.RunFilter)} == filters
    for name, made in BODIES.items():
        assert set(get_type_hints(made)) == set(schemas[name]["properties"]), name
    asked = {name.removesuffix("_") for name in get_type_hints(bodies.Question)}
    assert asked | {"prompt", "stream"} == set(schemas["ChatRequest"]["properties"])
