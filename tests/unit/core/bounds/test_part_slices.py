"""Slices of parts that are too large for one iteration of the event loop."""

from signalbox.core.bounds.part_slices import SLICE, slices_of, texts_of
from signalbox.core.parts import CallDelta, ReasoningDelta, RefusalDelta, TextDelta


def test_large_texts_are_cut_into_slices() -> None:
    """Long text, reasoning and refusals are cut in order; other parts stay whole."""
    long = "0123456789" * SLICE
    call = CallDelta(0, arguments=long)
    slices = list(slices_of([ReasoningDelta(long, "reasoning"), TextDelta("short"), call, RefusalDelta(long)]))
    parts = [part for some in slices for part in some]
    assert "".join(p.text for p in parts if isinstance(p, ReasoningDelta)) == long
    assert {p.field for p in parts if isinstance(p, ReasoningDelta)} == {"reasoning"}
    assert "".join(p.text for p in parts if isinstance(p, RefusalDelta)) == long
    assert [p for p in parts if isinstance(p, TextDelta | CallDelta)] == [TextDelta("short"), call]
    assert len(slices) >= 20
    assert max(sum(len(getattr(p, "text", "")) for p in some) for some in slices) <= SLICE + len("short")


def test_small_parts_stay_unchanged() -> None:
    """The parts of an ordinary answer are one list, and an ordinary text is one slice."""
    parts = [TextDelta("a"), TextDelta("b")]
    assert list(slices_of(parts)) == [parts]
    assert list(slices_of([])) == []
    assert texts_of("words") == ["words"]
    assert texts_of("") == []
