"""A run of contract v1.1 as one JSON object."""

import json
from typing import Any

import pytest
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Failure,
    Flag,
    Image,
    Reasoning,
    Source,
    Stamped,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    UsageTotals,
    Warning,
)
from signalbox.core.records import RunRecord
from signalbox.encoders.v1_whole import ChatAnswer, WholeV1

RUN = RunRecord("0" * 32, "openai/sim", "v2")
DONE = Done(True, "complete")
SEARCH = Call("s1", "search_web", '{"query":"x"}', "search", "primary")
PRICE = Call("p1", "price", '{"item":"screw"}', "other", "secondary")


def answer(*events: AnyEvent, run: RunRecord = RUN) -> dict[str, Any]:
    """Encode events, one batch each; return the answer."""
    encoder = WholeV1(run)
    for seq, event in enumerate(events, 1):
        encoder.feed([Stamped(seq, 0, event)])
    status, body = encoder.answer()
    assert status == 200
    return json.loads(body)


def test_an_empty_answer_has_its_lists() -> None:
    """Texts and lists are always there; what `done` does not say is absent, never null."""
    assert answer(DONE) == {
        "v": "1.1",
        "run_id": "0" * 32,
        "status": "complete",
        "text": "",
        "reasoning": "",
        "calls": [],
        "sources": [],
        "images": [],
        "warnings": [],
    }


def test_the_fields_of_done_are_those_of_the_answer() -> None:
    """A field that `done` gains must be added to the answer, too."""
    assert {*Done.__struct_fields__} - {"done"} <= {*ChatAnswer.__struct_fields__}
    done = Done(
        True,
        "error",
        error="Too many.",
        code="RATE_LIMIT",
        retryable=True,
        retry_after=3.0,
        usage=UsageTotals(5, 7, cached=2),
        cost=0.0,
        flag=Flag("v2", "STATIC"),
        steps=1,
    )
    told = answer(done)
    assert told.items() >= {"status": "error", "error": "Too many.", "code": "RATE_LIMIT", "retry_after": 3.0}.items()
    assert told["usage"] == {"input": 5, "output": 7, "cached": 2}
    assert (told["cost"], told["flag"], told["steps"]) == (0.0, {"variant": "v2", "reason": "STATIC"}, 1)


def test_pieces_are_joined() -> None:
    """Text as it was emitted; reasoning of two steps is separated by an empty line."""
    told = answer(
        Reasoning("Let me ", 1),
        Reasoning("search.", 1),
        Reasoning("", 1, hidden=True),
        Content("I look."),
        Content("\n\n"),
        Reasoning("Found.", 2),
        Content("It is so."),
        DONE,
    )
    assert told["text"] == "I look.\n\nIt is so."
    assert told["reasoning"] == "Let me search.\n\nFound."


def test_calls_have_their_results() -> None:
    """In the order of their announcement, whatever the order of the results; a failure is a result, too."""
    told = answer(
        ToolCalls([SEARCH, PRICE], 1),
        ToolExecuting("s1", "search_web", "search", "primary", 1),
        ToolResult("p1", "price", Failure(False, "No.", "TOOL_FAILED"), "other", "secondary", step=1),
        ToolResult(
            *("s1", "search_web", Success(True, {"results": []}), "search", "primary"),
            cached=True,
            step=1,
            artifact={"rows": 0},
        ),
        DONE,
    )
    assert told["calls"] == [
        {
            "id": "s1",
            "name": "search_web",
            "arguments": '{"query":"x"}',
            "category": "search",
            "visibility": "primary",
            "step": 1,
            "result": {"success": True, "result": {"results": []}},
            "cached": True,
            "artifact": {"rows": 0},
        },
        {
            "id": "p1",
            "name": "price",
            "arguments": '{"item":"screw"}',
            "category": "other",
            "visibility": "secondary",
            "step": 1,
            "result": {"success": False, "error": "No.", "code": "TOOL_FAILED"},
        },
    ]


def test_a_handed_call_has_no_result() -> None:
    """The client executes it; pieces of its arguments add nothing."""
    told = answer(ArgumentsDelta("p1", "price", "{", 1), ToolCalls([PRICE], 1), Done(True, "complete", handed=["p1"]))
    assert told["handed"] == ["p1"]
    assert "result" not in told["calls"][0]


def test_offsets_of_sources_are_in_the_whole_text() -> None:
    """The provider counts from the start of its step; the break between two steps belongs to neither."""
    cited = Source(1, "https://a.example", "A", start_index=0, end_index=4)
    told = answer(
        Content("First."),
        Content("", sources=[cited], step=1),
        ToolCalls([SEARCH], 1),
        Content("\n\n"),
        Content("Second."),
        Content("", sources=[cited, Source(2, "https://b.example", "B")], step=2),
        DONE,
    )
    places = [(one.get("start_index"), one.get("end_index")) for one in told["sources"]]
    assert places == [(0, 4), (8, 12), (None, None)]
    assert told["text"][8:12] == "Seco"


def test_images_warnings_and_marks() -> None:
    """What is said beside the text; the marks of single pieces count for the whole."""
    told = answer(
        Content("No.", refusal=True),
        Content("", images=[Image("data:image/png;base64,AA==")]),
        Content("Nothing was said.", synthetic=True),
        Warning("Too long.", "CONTEXT_TRIMMED", 1),
        DONE,
    )
    assert (told["refusal"], told["synthetic"]) == (True, True)
    assert told["images"] == [{"url": "data:image/png;base64,AA=="}]
    assert told["warnings"] == [{"message": "Too long.", "code": "CONTEXT_TRIMMED", "step": 1}]


@pytest.mark.parametrize("key", ["chat-1", "0123456789ab/chat-1"])
def test_the_place_in_a_conversation(key: str) -> None:
    """As in the headers of a stream: the client's own id without the owner, and the message that was answered."""
    told = answer(DONE, run=RunRecord("0" * 32, "openai/sim", "v2", conversation_id=key, parent_id="m1"))
    assert (told["conversation_id"], told["message_id"]) == ("chat-1", "m1")


def test_events_without_an_end_are_an_error() -> None:
    """Only a lost run has none: its text may be incomplete without saying so."""
    encoder = WholeV1(RUN)
    encoder.feed([Stamped(1, 0, Content("Hel"))])
    status, body = encoder.answer()
    assert (status, json.loads(body)["error"]["code"]) == (500, "INTERNAL")
