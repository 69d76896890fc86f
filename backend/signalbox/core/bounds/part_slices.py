"""Parts too large for one turn of the event loop, cut into lists that are not."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from signalbox.core.parts import ReasoningDelta, RefusalDelta, StreamPart, TextDelta

# Characters, and parts, that are taken in at once.
SLICE = 8 * 1024
_MOST_PARTS = 256


def slices_of(parts: Sequence[StreamPart]) -> Iterator[list[StreamPart]]:
    """Yield the same parts in their order; a text that is longer than a slice comes in several."""
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
    """Cut a text; of one that is not long it is that text, and of an empty one nothing."""
    return [text[at : at + SLICE] for at in range(0, len(text), SLICE)]


def _cut(parts: Sequence[StreamPart]) -> Iterator[StreamPart]:
    for part in parts:
        if isinstance(part, TextDelta | ReasoningDelta | RefusalDelta) and len(part.text) > SLICE:
            for text in texts_of(part.text):
                yield replace(part, text=text)
        else:
            yield part
