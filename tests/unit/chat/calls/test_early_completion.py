"""When a call counts as complete while the model still streams."""

import pytest
from signalbox.chat.calls.assembly import CallAssembler
from signalbox.core.parts import ArgumentStatus

from tests.unit.chat.calls.call_deltas import KNOWN, Q1, Q2, assemble, d


def closed(assembler: CallAssembler) -> list[str]:
    """Return the names of the calls that were completed since the last call of this."""
    return [call.name for call in assembler.closed()]


def test_a_call_is_reported_once_when_its_object_is_complete() -> None:
    """Asked after every delta, `closed` returns the call when its arguments are complete, and never again."""
    assembler = CallAssembler(KNOWN)
    seen = []
    for piece in ('{"q":', '"}"', "}", "", " "):
        assembler.add(d(0, "a", "search", piece))
        seen.append(closed(assembler))
    assert seen == [[], [], ["search"], [], []]


def test_several_calls_are_completed_by_one_read() -> None:
    """All calls that a read completes are returned together."""
    assembler = CallAssembler(KNOWN)
    for delta in (d(0, "a", "search", Q1), d(1, "b", "calc", Q2), d(2, "c", "calc", '{"q"')):
        assembler.add(delta)
    assert closed(assembler) == ["search", "calc"]


def test_a_call_completed_by_the_next_one_is_reported() -> None:
    """A call without an id that is found complete when the next one begins is still returned."""
    assembler = CallAssembler(KNOWN)
    assembler.add(d(0, None, "search", Q1))
    assembler.add(d(0, None, "calc", Q2))
    assert closed(assembler) == ["search", "calc"]
    assert closed(assembler) == []


@pytest.mark.parametrize("text", ['{"q":"}"}', '{"q":"{"}', '{"q":"}}}}"}'])
def test_a18_braces_in_strings_do_not_hide_the_next_call(text: str) -> None:
    """Without ids, a call with braces in its strings is known to be complete (A18)."""
    assert assemble(d(0, None, "search", text), d(0, None, "calc", Q2)) == [(None, "search", text), (None, "calc", Q2)]


@pytest.mark.parametrize("text", ["", "null", "[]", '"{}"', '{"q":', "{}}", "{} x"])
def test_only_objects_are_completed_early(text: str) -> None:
    """Any other value waits for the end of the step."""
    assembler = CallAssembler(KNOWN)
    assembler.add(d(0, "a", "search", text))
    assert closed(assembler) == []


def test_early_parsing_is_limited() -> None:
    """If every delta ends with a brace, not every one is parsed, so the cost stays linear."""
    assembler = CallAssembler(KNOWN)
    for _ in range(100):
        assembler.add(d(0, "a", "search", '{"a":"}'))
        closed(assembler)
        assembler.add(d(0, None, None, '"}"'))
    [call] = assembler.open_calls()
    assert call.tries <= 8


def test_text_is_joined_once() -> None:
    """Ten thousand fragments are joined only when the text is read."""
    assembler = CallAssembler(KNOWN)
    assembler.add(d(0, "a", "search", '{"q":"'))
    for _ in range(10_000):
        assembler.add(d(0, None, None, "x"))
    [call] = assembler.open_calls()
    assert len(call.pieces) == 10_001
    assembler.add(d(0, None, None, '"}'))
    assert assembler.calls()[0].status is ArgumentStatus.OK
