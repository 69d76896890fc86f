"""A run as operations on the state of an assistant-ui client, in both framings."""

import json

import pytest
from signalbox.core.bounds.run_limits import COST_LIMITS
from signalbox.core.codes import CODES, Code
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Failure,
    Image,
    Reasoning,
    Source,
    Stamped,
    Status,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.handed_calls import handed_id
from signalbox.encoders.assistant_ui.branch import Branch
from signalbox.encoders.assistant_ui.framings import DataStreamEncoder, TransportEncoder

from tests.support.assistant_client import (
    RECORD,
    RUN,
    chunks_in,
    encoded_by_oracle,
    frames_of,
    lines_of,
    state_after,
)

DONE = Done(True, "complete", usage=UsageTotals(input=12, output=5), cost=0.001)
SEARCH = Call("s00000001", "search_web", '{"query":"x"}', "search", "primary")
PRICE = Call("c00000001", "price", '{"item":"screw"}', "other", "secondary")
FOUND = ToolResult(SEARCH.id, "search_web", Success(True, {"results": []}), "search", "primary")
PRICED = ToolResult(PRICE.id, "price", Failure(False, "There is none.", "TOOL_FAILED"), "other", "secondary")


def stamped(*events: AnyEvent) -> list[Stamped]:
    """Number events."""
    return [Stamped(seq, 1_790_000_000_000 + seq, event) for seq, event in enumerate(events, 1)]


def messages_after(*events: AnyEvent) -> list[dict[str, object]]:
    """Return the messages of a client that has received these events."""
    return state_after(lines_of(stamped(*events)))["messages"]


EVERYTHING = stamped(
    Reasoning("Hm", step=1),
    Reasoning("m.", step=1),
    Content("Let me "),
    Content('look "it" up.\n'),
    ToolCalls([SEARCH, PRICE], 1),
    ToolExecuting(SEARCH.id, "search_web", "search", "primary"),
    PRICED,
    FOUND,
    Warning("A limit.", "TOOL_CLAMP", 1),
    Content("\n\n"),
    Content("Here: é"),
    Content("", sources=[Source(1, "https://a.example", "A")], step=2),
    Content("", images=[Image("data:image/png;base64,AA==")]),
    Content(" No.", refusal=True),
    DONE,
)


@pytest.mark.anyio
async def test_frames_are_those_of_the_package() -> None:
    """Both framings are, byte for byte, what assistant-stream writes for the same operations."""
    failed = [*EVERYTHING[:-1], *stamped(Done(True, "error", "It failed.", "UPSTREAM_ERROR"))]
    for events in (EVERYTHING, failed):
        lines, frames = await encoded_by_oracle(chunks_in(lines_of(events)))
        assert lines_of(events) == lines
        assert frames_of(events) == frames


def test_messages_in_langchains_format() -> None:
    """Reasoning, text, calls and results are messages; text after calls begins another message."""
    first, priced, found, second = messages_after(*(one.event for one in EVERYTHING))
    assert first["content"] == [
        {"type": "thinking", "thinking": "Hmm."},
        {"type": "text", "text": 'Let me look "it" up.\n'},
    ]
    assert first["id"] == RUN
    assert first["tool_calls"] == [
        {"id": handed_id(RUN, SEARCH.id), "name": "search_web", "args": {"query": "x"}, "type": "tool_call"},
        {"id": handed_id(RUN, PRICE.id), "name": "price", "args": {"item": "screw"}, "type": "tool_call"},
    ]
    assert priced == {
        "id": f"{RUN}.2",
        "type": "tool",
        "tool_call_id": handed_id(RUN, PRICE.id),
        "name": "price",
        "content": '{"error":"There is none.","code":"TOOL_FAILED"}',
        "status": "error",
    }
    assert (found["tool_call_id"], found["content"], found["status"]) == (
        handed_id(RUN, SEARCH.id),
        '{"results":[]}',
        "success",
    )
    assert second["content"] == [
        {"type": "text", "text": "Here: é"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "text", "text": " No."},
    ]
    assert len({str(message["id"]) for message in (first, priced, found, second)}) == 4


def test_a_table_is_the_artifact_of_its_result() -> None:
    """The page gets the table, and the text that the model gets stays the content."""
    table = {"surfaceId": "s-1", "columns": [], "data": []}
    found = ToolResult(SEARCH.id, "search_web", Success(True, "3 products"), "search", "primary", artifact=table)
    _, result = messages_after(ToolCalls([SEARCH], 1), found)
    assert (result["content"], result["artifact"]) == ("3 products", table)


def test_metadata_of_an_answer() -> None:
    """Sources, a refusal, usage and cost are in the metadata of the run's first message."""
    state = state_after(lines_of(EVERYTHING))
    metadata = state["messages"][0]["additional_kwargs"]["metadata"]
    assert metadata["sources"] == [{"n": 1, "url": "https://a.example", "title": "A"}]
    assert metadata["refusal"] is True
    assert metadata["run"] == state["run"]
    assert state["run"] == {
        "id": RUN,
        "status": "complete",
        "usage": {"input": 12, "output": 5},
        "cost": 0.001,
    }
    assert state["warnings"] == [{"message": "A limit.", "code": "TOOL_CLAMP", "step": 1}]


def test_arguments_stream() -> None:
    """Arguments of parallel calls are appended to their own calls, whatever the order of their pieces."""
    pieces = stamped(
        ArgumentsDelta(SEARCH.id, "search_web", '{"que', 1),
        ArgumentsDelta(PRICE.id, "price", '{"item"', 1),
        ArgumentsDelta(SEARCH.id, "search_web", 'ry": "x"}', 1),
        ArgumentsDelta(PRICE.id, "price", ':"screw"}', 1),
    )
    [message] = state_after(lines_of(pieces))["messages"]
    assert [call["partial_json"] for call in message["tool_calls"]] == ['{"query": "x"}', '{"item":"screw"}']
    announced = [*pieces, *stamped(ToolCalls([SEARCH, PRICE], 1))]
    [message] = state_after(lines_of(announced))["messages"]
    assert [call["args"] for call in message["tool_calls"]] == [{"query": "x"}, {"item": "screw"}]
    assert [call["partial_json"] for call in message["tool_calls"]] == ['{"query": "x"}', '{"item":"screw"}']


def test_repaired_arguments_replace_those_that_streamed() -> None:
    """If the announced arguments differ from the streamed ones, the client has the announced ones."""
    events = (ArgumentsDelta(PRICE.id, "price", '{"item":"scr', 1), ToolCalls([PRICE], 1))
    [message] = messages_after(*events)
    [call] = message["tool_calls"]  # type: ignore[misc]
    assert call["partial_json"] == PRICE.arguments
    assert call["args"] == {"item": "screw"}


def test_a_call_that_was_cut_off_gets_an_error() -> None:
    """A call whose arguments broke off is never announced, and must not wait for a result."""
    events = (ArgumentsDelta(PRICE.id, "price", '{"item":"scr', 1), Done(True, "error", code="STREAM_CUT"))
    message, result = messages_after(*events)
    assert (result["type"], result["status"]) == ("tool", "error")
    assert result["tool_call_id"] == message["tool_calls"][0]["id"]  # type: ignore[index]


@pytest.mark.parametrize("status", ["complete", "cancelled", "interrupted", "error", "length", "content_filter"])
@pytest.mark.parametrize(
    "begun", [(), (Content("Half"),), (ToolCalls([PRICE], 1), PRICED)], ids=["empty", "text", "call"]
)
def test_every_ending(status: Status, begun: tuple[AnyEvent, ...]) -> None:
    """Every ending with every code closes the stream; a failure is an error chunk and the status of the answer.

    A cost limit or a budget is a limit, as that of the length.
    """
    for code in (None, *Code):
        done = Done(True, status, code=str(code)) if code else Done(True, status)
        is_limit = status == "interrupted" and code in COST_LIMITS
        has_failed = status in ("interrupted", "error", "content_filter") and not is_limit
        lines, frames = lines_of(stamped(*begun, done)), frames_of(stamped(*begun, done))
        assert frames[-1] == "data: [DONE]"
        errors = [json.loads(line[2:]) for line in lines if line.startswith("3:")]
        assert errors == ([CODES[code or Code.INTERNAL].sentence] if has_failed else [])
        state = state_after(lines)
        assert state["run"]["status"] == status
        reasons = [one["status"]["reason"] for one in state["messages"] if one["type"] == "ai" and "status" in one]
        reason = {"content_filter": "content-filter", "interrupted": "error"}.get(status, status)
        assert reasons == ([] if status == "complete" else ["length" if is_limit else reason])


def test_the_status_of_a_continued_answer() -> None:
    """assistant-ui shows consecutive messages as one, with the status of the first."""
    before = {"id": "1" * 32, "type": "ai", "content": [], "tool_calls": []}
    branch = Branch([{"id": "q", "type": "human", "content": []}, before], answer=1)
    lines = lines_of(stamped(Content("More"), Done(True, "length")), branch)
    messages = state_after(lines, {"messages": [*branch.messages]})["messages"]
    assert messages[1]["status"] == {"type": "incomplete", "reason": "length"}
    assert "status" not in messages[2]


@pytest.mark.parametrize("encoder", [DataStreamEncoder, TransportEncoder])
def test_batches_do_not_change_the_bytes(encoder: type[DataStreamEncoder | TransportEncoder]) -> None:
    """One batch, and a batch for each event, give the same bytes."""
    single = encoder(RECORD)
    assert encoder(RECORD).encode(EVERYTHING) == b"".join([single.encode([event]) for event in EVERYTHING])


def test_empty_events_have_no_frame() -> None:
    """Events without visible content produce no bytes."""
    quiet = stamped(Content(""), Reasoning("", hidden=True), ToolExecuting("x", "y", "other", "hidden"))
    assert DataStreamEncoder(RECORD).encode(quiet) == b""
