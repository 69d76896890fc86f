"""A continuation behind the text it continues: what it adds, without what it repeats.

The page does the same while the continuation streams (`frontend/src/run/overlap.ts`); both are tested against
`tests/conversations/overlaps.json`.
"""

import re

# Characters of the text before that a model may repeat.
WINDOW = 600
# A repetition that may begin anywhere has so many characters and two words; one word may only be finished, or a line.
_LEAST, _LEAST_WORD = 12, 4
_WORDS = re.compile(r"[^\W\d_]{2,}")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BLANK = re.compile(r"^[\s…]+")


def added(before: str, more: str) -> str:
    """Return what `more` adds to `before`: a fence opened again and repeated last words are left out."""
    more = _inside_fence(before, more)
    for text in (more, _BLANK.sub("", more)):
        if size := _repeated(before, text):
            return text[size:]
    return more


def _inside_fence(before: str, more: str) -> str:
    """Leave out a line that opens the block of code again in which `before` ends."""
    mark = open_fence(before)
    head, _, rest = more.lstrip("\n").partition("\n")
    found = _FENCE.match(head)
    if mark is None or found is None or found[1][0] != mark[0] or not found[2].strip():
        return more
    return rest


def open_fence(text: str) -> str | None:
    """Return the mark of the block of code that is open at the end of a text."""
    mark: str | None = None
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if mark is None:
            mark = found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            mark = None
    return mark


def _repeated(before: str, more: str) -> int:
    """Return how many characters at the beginning of `more` are the end of `before`."""
    end = before[-WINDOW:]
    for size in range(min(len(end), len(more)), _LEAST_WORD - 1, -1):
        if end.endswith(more[:size]) and _is_repetition(end[: len(end) - size], more, size):
            return size
    return 0


def _is_repetition(head: str, more: str, size: int) -> bool:
    """Whether equal characters are a repetition: rows of the same cells, and lines that come again, are none."""
    words = more[:size]
    if head.endswith(words):
        return False
    found = _WORDS.findall(words)
    if (size >= _LEAST and len(found) > 1) or (found and head.endswith("\n")):  # the whole of an unfinished line
        return True
    # The word in which the text was cut, from its beginning.
    return words.isalpha() and more[size : size + 1].isalpha() and not head[-1:].isalnum()
