"""Cuts parts into lists that are small enough for one iteration of the event loop."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from signalbox.core.parts import ReasoningDelta, RefusalDelta, StreamPart, TextDelta

# Characters and parts per list.
SLICE = 8 * 1024
_MOST_PARTS = 256


def slices_of(parts: Sequence[StreamPart]) -> Iterator[list[StreamPart]]:
    """Yield the parts in order, in lists; longer texts are cut."""
    taken: list[StreamPart] = []
    size = 0
    for part in _cut(parts):
        taken.append(part)
        size += len(part.text) if isinstance(part, TextDelta | ReasoningDelta | RefusalDelta) else 0
        if size >= SLICE or len(taken) >= _MOST_PARTS:
            yield taken
            taken, size = [], 0
    if taken:
        yield taken


def texts_of(text: str) -> list[str]:
    """Cut a text into slices; an empty text has none."""
    return [text[at : at + SLICE] for at in range(0, len(text), SLICE)]


def _cut(parts: Sequence[StreamPart]) -> Iterator[StreamPart]:
    for part in parts:
        if isinstance(part, TextDelta | ReasoningDelta | RefusalDelta) and len(part.text) > SLICE:
            for text in texts_of(part.text):
                yield replace(part, text=text)
        else:
            yield part
