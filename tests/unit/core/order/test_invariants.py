"""The check of the order of events: which orders it accepts and rejects."""

import pytest
from signalbox.core.codes import Code
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
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
from signalbox.core.order.invariants import OrderCheck, first_fault, first_stamp_fault


def calls(*ids: str) -> ToolCalls:
    """Announce calls."""
    return ToolCalls([Call(name, "f", "{}", "other", "secondary") for name in ids])


def runs(name: str) -> ToolExecuting:
    """Emit that a call executes."""
    return ToolExecuting(name, "f", "other", "secondary")


def result(name: str, tool: str = "f") -> ToolResult:
    """Emit the result of a call."""
    return ToolResult(name, tool, Success(True, None), "other", "secondary")


TEXT = Content("Hi")
DONE = Done(True, "complete")
LENGTH = [Warning("m", str(Code.LENGTH)), Done(True, "length", code=str(Code.LENGTH))]

GOOD: list[list[AnyEvent]] = [
    [TEXT, DONE],
    [Reasoning("Hm"), TEXT, DONE],
    [calls("a"), runs("a"), result("a"), TEXT, DONE],
    [calls("a", "b"), runs("b"), runs("a"), TEXT, result("b"), result("a"), DONE],
    [calls("a"), result("a"), TEXT, DONE],
    [
        TEXT,
        calls("a"),
        Reasoning("x"),
        ToolResult("a", "f", Failure(False, "e", "TIMEOUT"), "other", "hidden"),
        DONE,
    ],
    [Done(True, "cancelled")],
    [TEXT, *LENGTH],
    LENGTH,
    [calls("a"), Done(True, "complete", handed=["a"])],
    [
        ArgumentsDelta("a", "f", '{"x"', 1),
        calls("a", "b"),
        runs("b"),
        result("b"),
        Done(True, "complete", handed=["a"]),
    ],
]
BAD: list[tuple[list[AnyEvent], str]] = [
    ([], "without done"),
    ([TEXT], "without done"),
    ([DONE], "without content or a handed call"),
    ([Content(" \n"), DONE], "without content or a handed call"),
    ([TEXT, DONE, TEXT], "content after done"),
    ([TEXT, DONE, DONE], "done after done"),
    ([ToolCalls([]), TEXT, DONE], "announces no call"),
    ([TEXT, Done(True, "complete", handed=["a"])], "never announced"),
    ([calls("a"), result("a"), TEXT, Done(True, "complete", handed=["a"])], "has a result"),
    ([calls("a"), runs("a"), TEXT, Done(True, "complete", handed=["a"])], "was executed here"),
    ([calls("a", "b"), TEXT, Done(True, "complete", handed=["a"])], "call b has no result"),
    ([calls("a"), Done(True, "cancelled", handed=["a"])], "only complete does"),
    ([calls("a"), calls("a"), TEXT, DONE], "announced twice"),
    ([calls("a", "a"), TEXT, DONE], "announced twice"),
    ([runs("a"), TEXT, DONE], "never announced"),
    ([result("a"), TEXT, DONE], "never announced"),
    ([calls("a"), runs("a"), runs("a"), result("a"), TEXT, DONE], "executes twice"),
    ([calls("a"), result("a"), runs("a"), TEXT, DONE], "after its result"),
    ([calls("a"), result("a"), result("a"), TEXT, DONE], "two results"),
    ([calls("a"), result("a", "g"), TEXT, DONE], "announced as"),
    ([calls("a", "b"), result("a"), TEXT, DONE], "call b has no result"),
    ([calls("a"), Done(True, "cancelled")], "call a has no result"),
    ([TEXT, LENGTH[1]], "without its warning"),
    ([LENGTH[0], TEXT, LENGTH[1]], "without its warning"),
    ([Warning("m"), LENGTH[1]], "without its warning"),
    ([Warning("m", "LENGTH"), Done(True, "length")], "has no code"),
]


@pytest.mark.parametrize("events", GOOD)
def test_valid_orders(events: list[AnyEvent]) -> None:
    """These runs are valid."""
    assert first_fault(events) is None


@pytest.mark.parametrize(("events", "words"), BAD)
def test_invalid_orders(events: list[AnyEvent], words: str) -> None:
    """These runs are invalid, and the sentence says why."""
    assert words in str(first_fault(events))


def test_a_resumed_stream_may_refer_to_earlier_calls() -> None:
    """Earlier calls are known from their first event; a second result is still an error."""
    check = OrderCheck(resumed=True)
    assert [check.feed(event) for event in (result("a"), runs("b"), result("b"), DONE)] == [None] * 4
    assert check.close() is None
    again = OrderCheck(resumed=True)
    again.feed(result("a"))
    assert "two results" in str(again.feed(result("a")))


def test_sequence_numbers_must_increase() -> None:
    """Gaps are valid, repetitions are not."""
    assert first_stamp_fault([Stamped(n, 0, TEXT) for n in (1, 2, 7)]) is None
    assert "must rise" in str(first_stamp_fault([Stamped(n, 0, TEXT) for n in (1, 1)]))
    assert first_stamp_fault([]) is None
