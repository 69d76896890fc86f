"""How much a run may say: its events are weighed before they are told, so that a fast answer cannot pass the limit."""

from collections.abc import Sequence
from operator import attrgetter

from msgspec import json

from signalbox.core.events import AnyEvent, Content

# An event in the journal beside its words: `{"seq":1,"at":1795227719617,"event":{"type":"content","content":""}}`.
_FRAME = 72

_WORDLESS = len('{"type":"content","content":""}')

_words_of = attrgetter("content")
_encode = json.Encoder().encode


class TooLarge(Exception):
    """The run has said more than may be kept; what went over the limit is not told."""


def weight_of(events: Sequence[AnyEvent]) -> int:
    """Return how many bytes events take in the journal, without what JSON escapes: never more than they do."""
    try:
        texts = list(map(_words_of, events))  # of an answer nearly always: no step of Python for each event
    except AttributeError:
        return sum(len(_encode(event)) for event in events)
    words = "".join(texts)
    beside = _beside(events) if "" in texts else 0
    return _FRAME * len(events) + beside + (len(words) if words.isascii() else len(words.encode("utf-8", "replace")))


def _beside(events: Sequence[AnyEvent]) -> int:
    """Weigh the images and sources that stand where there are no words."""
    blank = (event for event in events if type(event) is Content and not event.content)
    return sum(len(_encode(event)) - _WORDLESS for event in blank)


def fitting(events: Sequence[AnyEvent], most_bytes: float) -> int:
    """Return how many of the first events fit."""
    for count, event in enumerate(events):
        most_bytes -= weight_of([event])
        if most_bytes < 0:
            return count
    return len(events)
