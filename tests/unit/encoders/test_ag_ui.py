"""A run as events of AG-UI."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec import json as msgspec_json
from signalbox.core.bounds.run_limits import COST_LIMITS
from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Image,
    Reasoning,
    Source,
    Stamped,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.encoders.ag_ui import AgUiEncoder
from signalbox.encoders.encoder import ResumedEncoder
from signalbox.encoders.v1_whole import WholeV1

from tests.support.ag_ui_client import AgUiReader, events_in
from tests.support.run_events import CLIENT_TOOL, OUR_TOOL, RUN, all_endings, random_run, stamped

IDS: JsonObject = {"thread_id": "t", "run_id": "r", "protocol_version": "1.0"}
ECHO: JsonObject = {**IDS, "client_tools": [CLIENT_TOOL], "state": "empty"}
RECORD = RunRecord(RUN, "openai/sim", "v2", echo=ECHO)
DONE = Done(True, "complete")
ENDINGS = all_endings()
_decoded = msgspec_json.Decoder(list[Stamped])


def stream_of(events: list[Stamped], record: RunRecord = RECORD) -> bytes:
    """Encode a run in one batch."""
    return AgUiEncoder(record).encode(events)


def client_after(*events: AnyEvent) -> AgUiReader:
    """Return the client after a run."""
    return AgUiReader().read_stream(stream_of(stamped(*events)))


@pytest.mark.parametrize("name", ENDINGS)
def test_every_ending_is_read(name: str) -> None:
    """Everything is closed, a failure says what happened, and the client executes only what is handed over."""
    events = ENDINGS[name]
    done = events[-1].event
    assert isinstance(done, Done)
    client = AgUiReader().read_stream(stream_of(events))
    assert client.state["signalbox"]["status"] == done.status
    assert client.last["metadata"]["signalbox"] == client.state["signalbox"]
    assert client.pending == [handed_id(RUN, call_id) for call_id in done.handed or ()]
    is_answer = done.code in COST_LIMITS and any(isinstance(stamped.event, Content) for stamped in events)
    if done.status in ("error", "interrupted", "content_filter") and not is_answer:
        assert (client.last["type"], client.last["message"], client.last["code"]) == (
            "RUN_ERROR",
            done.error,
            done.code,
        )
    else:
        outcome = "cancelled" if done.status == "cancelled" else "success"
        assert (client.last["type"], client.last["outcome"]["type"]) == ("RUN_FINISHED", outcome)
        assert (client.last["threadId"], client.last["runId"]) == ("t", "r")


@given(st.integers(0, 100_000))
def test_the_client_has_what_v1_has(seed: int) -> None:
    """The same text, reasoning, calls, results, images, sources and warnings."""
    events = random_run(seed)
    whole = WholeV1(RECORD)
    whole.feed(events)
    expected = json.loads(whole.answer()[1])
    client = AgUiReader().read_stream(stream_of(events))
    # Two steps are two messages here; v1.1 has an empty line between them.
    assert client.text.replace("\n", "") == expected["text"].replace("\n", "")
    reasoning = "".join(message["content"] for message in client.of_role("reasoning"))
    assert reasoning.replace("\n", "") == expected["reasoning"].replace("\n", "")
    calls = client.calls
    for call in expected["calls"]:
        shown = calls.pop(handed_id(RUN, call["id"]) if call["name"] == CLIENT_TOOL else call["id"])
        assert (shown["name"], shown["arguments"]) == (call["name"], call["arguments"])
        match call.get("result"):
            case None:
                assert "result" not in shown
            case {"success": True, "result": result}:
                assert json.loads(shown["result"]) == result
            case failure:
                assert json.loads(shown["result"]) == {"error": failure["error"], "code": failure["code"]}
    assert not calls
    assert [value for name, value in client.custom if name == "warning"] == expected["warnings"]
    assert sum(name == "image" for name, _ in client.custom) == len(expected["images"])
    shown = {source["n"] for name, value in client.custom if name == "sources" for source in value["sources"]}
    assert shown == {source["n"] for source in expected["sources"]}


@given(st.integers(0, 100_000), st.integers(0, 60))
def test_a_stream_is_the_same_however_it_is_read(seed: int, after: int) -> None:
    """In batches of any size, from the disk, and behind any event."""
    events = random_run(seed)
    whole = stream_of(events)
    encoder = AgUiEncoder(RECORD)
    assert b"".join(encoder.encode([one]) for one in events) == whole
    assert stream_of(_decoded.decode(msgspec_json.encode(events))) == whole
    first, rest = AgUiEncoder(RECORD), ResumedEncoder(AgUiEncoder(RECORD), after)
    assert first.encode(events[:after]) + rest.encode(events) == whole


def test_texts_of_every_kind_are_escaped() -> None:
    """Quotes, line breaks and percent signs arrive as the model wrote them, in the first piece and in the next."""
    odd = 'a "%b" %d \n\n\u2028\x00\r \\'
    client = client_after(Reasoning(odd, 1), Reasoning(odd, 1), Content(odd), Content(odd), DONE)
    assert [message["content"] for message in client.messages] == [odd * 2, odd * 2]


def test_each_model_call_and_each_tool_is_a_step() -> None:
    """The messages of a run have its id, so that the next request says which answer it follows."""
    call = Call("c1", OUR_TOOL, "{}", "search", "primary")
    executing = ToolExecuting("c1", OUR_TOOL, "search", "primary", 1)
    result = ToolResult("c1", OUR_TOOL, Success(True, {}), "search", "primary", step=1)
    before = (Reasoning("A", 1), Content("One."), ToolCalls([call], 1), executing, result)
    client = client_after(*before, Content("\n\n"), Content("Two."), DONE)
    assert client.steps == ["model:1", "tool:c1", "model:2"]
    assert [(message["id"], message["content"]) for message in client.messages] == [
        (f"{RUN}.r1", "A"), (RUN, "One."), (f"{RUN}.t1", "{}"), (f"{RUN}.2", "Two."),
    ]  # fmt: skip


def test_text_around_reasoning_is_one_message() -> None:
    """A model may reason again within a step."""
    client = client_after(Content("One, "), Reasoning("Hm", 1), Content("two."), DONE)
    assert [message["content"] for message in client.messages] == ["One, two.", "Hm"]


def test_an_artifact_is_the_result_for_the_page() -> None:
    """The page shows what is for people; the model has got the result."""
    call = Call("c1", "search_products", "{}", "search", "primary")
    result = ToolResult("c1", call.name, Success(True, "short"), "search", "primary", artifact={"columns": []})
    assert client_after(ToolCalls([call], 1), result, Content("a"), DONE).calls["c1"]["result"] == '{"columns":[]}'


def test_what_the_protocol_lacks_is_custom() -> None:
    """Warnings, images and sources; the message that they belong to."""
    source, image = Source(3, "https://3.example", "T3"), Image("data:image/webp;base64,AAAA")
    events = (Content("a"), Content("", images=[image]), Content("", sources=[source], step=1))
    client = client_after(Warning("Careful.", "TOOL_CLAMP"), *events, DONE)
    assert client.custom == [
        ("warning", {"message": "Careful.", "code": "TOOL_CLAMP"}),
        ("image", {"messageId": RUN, "url": image.url}),
        ("sources", {"messageId": RUN, "sources": [{"n": 3, "url": source.url, "title": "T3"}]}),
    ]


def test_a_refusal_and_hidden_reasoning_are_marked() -> None:
    """The client merges metadata into its messages."""
    events = events_in(stream_of(stamped(Reasoning("", 1, hidden=True), Content("No.", refusal=True), DONE)))
    marks = {event["type"]: event["metadata"]["signalbox"] for event in events[:-1] if "metadata" in event}
    assert marks == {"REASONING_MESSAGE_START": {"hidden": True}, "TEXT_MESSAGE_CONTENT": {"refusal": True}}


def test_usage_and_cost_are_in_the_end() -> None:
    """Also of a run that failed."""
    for name in ("in text, complete", "in text, UPSTREAM_ERROR"):
        last = AgUiReader().read_stream(stream_of(ENDINGS[name])).last
        assert last["metadata"]["signalbox"]["cost"] == 0.001
        assert last["usage"] == [
            {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17, "reasoningTokens": 2, "cachedInputTokens": 3}
        ]


@pytest.mark.parametrize(
    ("sent", "kinds"), [("empty", ["STATE_SNAPSHOT", "STATE_DELTA"]), ("object", ["STATE_DELTA"] * 2), (None, [])]
)
def test_the_state_of_the_page_stays(sent: str | None, kinds: list[str]) -> None:
    """Only our field is set; a state that is no object is left alone."""
    record = RunRecord(RUN, "openai/sim", "v2", echo={**ECHO, "state": sent})
    events = events_in(stream_of(stamped(Content("a"), DONE), record))
    assert [event["type"] for event in events if event["type"].startswith("STATE")] == kinds


@pytest.mark.parametrize("name", ["a call of the client, handed", "in text, cancelled"])
def test_clients_before_1_0_get_no_outcome(name: str) -> None:
    """They send no version, and reject the outcomes of 1.0; the calls without a result are the client's."""
    echo = {name: value for name, value in ECHO.items() if name != "protocol_version"}
    record = RunRecord(RUN, "openai/sim", "v2", echo=echo)
    client = AgUiReader().read_stream(stream_of(ENDINGS[name], record))
    assert (client.last["type"], "outcome" in client.last) == ("RUN_FINISHED", False)


def test_a_run_of_another_protocol_can_be_read() -> None:
    """Its thread is its conversation."""
    record = RunRecord(RUN, "openai/sim", "v2", conversation_id="kept")
    first, *_ = events_in(stream_of(stamped(Content("a"), DONE), record))
    assert (first["threadId"], first["runId"]) == ("kept", RUN)
    assert UNSET not in first.values()
