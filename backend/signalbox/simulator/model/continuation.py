"""Continues an answer that was truncated."""

import re

from ..http.incoming import Incoming, calls_of, text_of

_END = "\n\nThat is all I have to say about this."
_TAIL = 40

# A document that is truncated in a word of its code, in a cell of its table and in an item of its list.
DOCUMENT = (
    "Three steps make a small cache.\n\n```python\ndef remember(key, value):\n    cache[key] = va",
    "lue\n    return value\n```\n\n| step | cost |\n|---|---|\n| look up | 1 µs |\n| comp",
    "ute | 20 ms |\n\n- Keep the cache **sma",
    "ll**.\n- Forget what is old.\n",
)


def text_so_far(incoming: Incoming) -> str:
    """Return the answer that the model is asked to continue, or "" for a new question."""
    if not incoming.continues_answer:
        return ""
    answers = (message for _, message in incoming.loop() if message.get("role") == "assistant")
    return "".join(text_of(message) for message in answers if not calls_of(message))


def remaining(incoming: Incoming, whole: str) -> str:
    """Return the part of an answer that follows its text_so_far."""
    before = text_so_far(incoming)
    if not before:
        return whole
    for begun in (before, before.rstrip()):
        if whole.startswith(begun):
            return whole[len(begun) :] or _END
    at = whole.rfind(before[-_TAIL:])
    return whole[at + _TAIL :] if at >= 0 and len(before) >= _TAIL else _END


def next_piece(incoming: Incoming) -> tuple[str, bool]:
    """Return the next piece of the document, and whether it is the last."""
    before, begun = text_so_far(incoming), ""
    for at, piece in enumerate(DOCUMENT):
        if len(begun) >= len(before):
            return piece, at == len(DOCUMENT) - 1
        begun += piece
    return _END, True


def repeated_start(incoming: Incoming) -> str:
    """Return the text that a continuation repeats: the start of an open code block, and the truncated line."""
    before = text_so_far(incoming)
    code_start = "```python\n" if before.count("```") % 2 else ""
    return code_start + re.split(r"\n", before)[-1]
