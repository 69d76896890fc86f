"""The size limit of a run's events; it is checked before they are emitted, so that a fast answer cannot exceed it."""

from collections.abc import Sequence
from operator import attrgetter

from msgspec import json

from signalbox.core.events import AnyEvent, Content

# The size of an event in the journal besides its text:
# `{"seq":1,"at":1795227719617,"event":{"type":"content","content":""}}`.
_FRAME = 72

_EMPTY_CONTENT = len('{"type":"content","content":""}')

_text_of = attrgetter("content")
_encode = json.Encoder().encode


class TooLarge(Exception):
    """The run reached its size limit; what exceeds it is not emitted."""


def size_of(events: Sequence[AnyEvent]) -> int:
    """Return the size of events in the journal in bytes; JSON escapes are not counted, so it is a lower bound."""
    try:
        texts = list(map(_text_of, events))  # nearly always content: no Python step per event
    except AttributeError:
        return sum(len(_encode(event)) for event in events)
    text = "".join(texts)
    attachments = _attachments_size(events) if "" in texts else 0
    return _FRAME * len(events) + attachments + (len(text) if text.isascii() else len(text.encode("utf-8", "replace")))


def _attachments_size(events: Sequence[AnyEvent]) -> int:
    """Return the size of images and sources, in events without text."""
    blank = (event for event in events if type(event) is Content and not event.content)
    return sum(len(_encode(event)) - _EMPTY_CONTENT for event in blank)


def count_fitting(events: Sequence[AnyEvent], max_bytes: float) -> int:
    """Return how many of the first events fit."""
    for count, event in enumerate(events):
        max_bytes -= size_of([event])
        if max_bytes < 0:
            return count
    return len(events)
