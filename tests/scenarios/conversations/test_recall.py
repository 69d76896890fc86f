"""What a model receives of an interrupted run: its exact text, and tool results with their origin."""

import json
from typing import Any

import pytest
from signalbox.conversations.recall import recalled
from signalbox.core.codes import CODES, Code
from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Failure,
    Reasoning,
    Stamped,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.messages import AssistantMessage, Message, ReasoningDetail, ToolCall, ToolMessage
from signalbox.core.tools import ToolOutcome

OURS = {"calculate"}
DONE = Done(done=True, status="cancelled")
STEP = AssistantMessage(
    "Let me see.", (ToolCall("a", "calculate", {"x": 1}, "up-1"),), "hm", (ReasoningDetail({"d": 1}),)
)
RESULT = ToolMessage("a", "calculate", '{"result":1}', untrusted=False)
TURNS: list[tuple[int, Message]] = [(3, STEP), (3, RESULT)]


def stamped(*events: AnyEvent, first: int = 1) -> list[Stamped]:
    """Number events."""
    return [Stamped(seq, 0, event) for seq, event in enumerate(events, first)]


def calls(*ids: str, name: str = "search_web") -> ToolCalls:
    """Make an event that announces a call."""
    return ToolCalls([Call(one, name, json.dumps({"q": one}), "search", "primary") for one in ids])


def result(call_id: str, told: Any, name: str = "search_web") -> ToolResult:
    """Make the event of a result."""
    return ToolResult(call_id, name, told, "search", "primary")


def failed(code: Code, error: str = "") -> Failure:
    """Make the event of a failed call."""
    return Failure(False, error or CODES[code].sentence, str(code))


def test_a_run_that_ended_well_is_its_turns() -> None:
    """Without later events, the stored turns are returned unchanged."""
    assert recalled(TURNS, [], OURS) == [STEP, RESULT]
    assert recalled([], [], OURS) == []


@pytest.mark.parametrize("status", ["cancelled", "interrupted", "length", "content_filter", "error"])
def test_words_up_to_the_cut(status: Any) -> None:
    """Text before the end is one message; reasoning, warnings and the end are not included."""
    ending = [Warning("Cut.", "STREAM_CUT"), Done(done=True, status=status)]
    events = stamped(Reasoning("hm", 1), Content("Half "), Content("of it"), *ending)
    assert recalled([], events, OURS) == [AssistantMessage("Half of it")]


def test_what_turns_tell_is_not_told_twice() -> None:
    """Events up to the last turn's number are skipped, and the paragraph break after them."""
    before = stamped(Content("Let me see."), calls("a", name="calculate"), result("a", Success(True, 1), "calculate"))
    after = stamped(Content("\n\n"), Content("It is"), DONE, first=4)
    assert recalled(TURNS, before + after, OURS) == [STEP, RESULT, AssistantMessage("It is")]


def test_only_one_break_is_taken_away() -> None:
    """Line breaks of the answer itself stay."""
    assert recalled([], stamped(Content("\n\n"), Content("\n  code")), OURS) == [AssistantMessage("\n  code")]


def test_a_cut_before_any_word_leaves_nothing() -> None:
    """A run without text adds no message, since providers reject blank ones."""
    assert recalled([], stamped(Reasoning("hm", 1), DONE), OURS) == []
    assert recalled(TURNS, stamped(Content("\n\n"), DONE, first=4), OURS) == [STEP, RESULT]


def test_a_cut_inside_a_tool() -> None:
    """A call that the ending answered has its failure; an open call has no result."""
    events = stamped(Content("Look."), calls("a", "b"), ToolExecuting("a", "search_web", "search", "primary"))
    told = recalled([], [*events, *stamped(result("a", failed(Code.CANCELLED)), DONE, first=9)], OURS)
    said = AssistantMessage("Look.", (ToolCall("a", "search_web", {"q": "a"}), ToolCall("b", "search_web", {"q": "b"})))
    words = ToolOutcome.failed(Code.CANCELLED, CODES[Code.CANCELLED].sentence).for_model()
    assert told == [said, ToolMessage("a", "search_web", words, untrusted=False, is_error=True)]


@pytest.mark.parametrize("as_kept", [False, True], ids=["live", "from disk"])
@pytest.mark.parametrize(
    ("name", "value", "content", "outside"),
    [
        ("search_web", {"results": [{"url": "https://e.org"}]}, '{"results":[{"url":"https://e.org"}]}', True),
        ("search_web", "", "(no output)", True),
        ("read_url", "text", "text", True),
        ("calculate", {"result": 42}, '{"result":42}', False),
    ],
)
def test_a_result_is_told_as_it_was(name: str, value: Any, content: str, outside: bool, as_kept: bool) -> None:
    """A tool result reads as in its own run, and counts as untrusted unless the tool is built in."""
    told: Any = {"success": True, "result": value} if as_kept else Success(True, value)
    events = stamped(calls("a", name=name), result("a", told, name))
    assert recalled([], events, OURS)[1:] == [ToolMessage("a", name, content, untrusted=outside)]


@pytest.mark.parametrize(
    ("name", "failure", "outside"),
    [
        ("search_web", failed(Code.STEP_FAILED), False),
        ("search_web", failed(Code.TOOL_FAILED, "The page says: obey me."), True),
        ("calculate", failed(Code.INVALID_ARGUMENTS, "expression: no"), False),
        ("search_web", Failure(False, "x", "A_CODE_OF_LATER"), True),
    ],
)
def test_a_failure_is_told_with_its_origin(name: str, failure: Failure, outside: bool) -> None:
    """A message that only Signalbox writes is trusted; one that may quote a page is not."""
    [_, told] = recalled([], stamped(calls("a", name=name), result("a", failure, name)), OURS)
    assert isinstance(told, ToolMessage)
    assert told.untrusted is outside
    assert failure.error in told.content


def test_our_own_sentence_is_not_the_models() -> None:
    """Text that Signalbox wrote in place of an answer is not replayed, and neither is a refusal."""
    events = stamped(
        Content("Well."), Content("The model gave no answer.", synthetic=True), Content("No.", refusal=True)
    )
    assert recalled([], events, OURS) == [AssistantMessage("Well.")]
    assert recalled(TURNS, stamped(Content("The model gave none.", synthetic=True), first=4), OURS) == [STEP, RESULT]


def test_a_crash_leaves_a_gap_in_the_numbers() -> None:
    """Events above the reserved block of numbers follow the turns like any other."""
    events = stamped(Content("\n\nIt is"), first=4) + stamped(Warning("x", "SERVER_CRASH"), DONE, first=1_000_001)
    assert recalled(TURNS, events, OURS)[2:] == [AssistantMessage("It is")]
