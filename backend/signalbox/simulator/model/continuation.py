"""Going on with an answer that was cut: a model that is asked to continue says what is left of it."""

import re

from ..http.incoming import Incoming, calls_of, text_of

_END = "\n\nThat is all that I have to say on this."
_TAIL = 40

# A document that is cut in a word of its code, in a cell of its table and in an item of its list.
DOCUMENT = (
    "Three steps make a small cache.\n\n```python\ndef remember(key, value):\n    cache[key] = va",
    "lue\n    return value\n```\n\n| step | cost |\n|---|---|\n| look up | 1 µs |\n| comp",
    "ute | 20 ms |\n\n- Keep the cache **sma",
    "ll**.\n- Forget what is old.\n",
)


def text_so_far(incoming: Incoming) -> str:
    """Return the text of the answer that the model is asked to continue, empty for a new question."""
    if not incoming.continues_answer:
        return ""
    completion = (message for _, message in incoming.loop() if message.get("role") == "assistant")
    return "".join(text_of(message) for message in completion if not calls_of(message))


def left(incoming: Incoming, whole: str) -> str:
    """Return what is left of an answer behind what was text_so_far of it."""
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


def again(incoming: Incoming) -> str:
    """Return what a model that repeats itself says first: the fence of open code, and the line in which it was cut."""
    before = text_so_far(incoming)
    fence = "```python\n" if before.count("```") % 2 else ""
    return fence + re.split(r"\n", before)[-1]
