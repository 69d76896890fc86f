"""A continuation behind the text it continues: what it adds, without what it repeats.

The page does the same while the continuation streams (`frontend/src/run/overlap.ts`); both are tested against
`tests/unit/conversations/overlaps.json`.
"""

import re

# Characters of the text before that a model may repeat.
WINDOW = 600
# Text that comes again may be meant to, so each kind of repetition has its least length: words of an unfinished line,
# a word that is finished, and whole lines, of which there are two.
_LEAST, _LEAST_WORD, _LEAST_LINES = 12, 4, 40
_WORDS = re.compile(r"[^\W\d_]{2,}")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BLANK = re.compile(r"^[\s…]+")


def added(before: str, more: str) -> str:
    """Return what `more` adds to `before`: a fence opened again and repeated last words are left out."""
    more = _inside_fence(before, more)
    blank = _BLANK.match(more)
    opens_line = blank is not None and "\n" in blank[0]
    for text in (more, _BLANK.sub("", more)):
        if size := _repeated(before, text, opens_line=opens_line):
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


def _repeated(before: str, more: str, *, opens_line: bool) -> int:
    """Return how many characters at the beginning of `more` are the end of `before`, said a second time."""
    end = before[-WINDOW:]
    for size in range(min(len(end), len(more)), _LEAST_WORD - 1, -1):
        words, rest = more[:size], more[size:]
        if not end.endswith(words):
            continue
        head = end[: len(end) - size]
        if _is_periodic(head, words, rest):
            return 0
        is_whole = _ends_line(before) or (opens_line and rest[:1] in ("", "\n"))
        if _are_lines(head, words) if is_whole else _is_unfinished(head, words, rest):
            return size
    return 0


def _is_periodic(head: str, words: str, rest: str) -> bool:
    """Whether the words repeat themselves, alone or with what is around them: such a text repeats on purpose."""
    size = len(words)
    period = next(n for n in range(1, size + 1) if words.startswith(words[n:]))
    unit = words[:period]
    return 2 * period <= size or head.endswith(unit) or (period == size and rest.startswith(unit))


def _ends_line(text: str) -> bool:
    return text.rstrip(" \t").endswith("\n")


def _are_lines(head: str, words: str) -> bool:
    """Whether a repetition behind a finished line is long enough: code, tables and lists have equal lines."""
    lines = [line for line in words.split("\n") if line.strip()]
    is_from_start = not head or _ends_line(head) or words.startswith("\n")
    return is_from_start and len(lines) > 1 and len(words) >= _LEAST_LINES


def _is_unfinished(head: str, words: str, rest: str) -> bool:
    """Whether words are the end of an unfinished line, or the beginning of one that now goes on."""
    found = _WORDS.findall(words)
    if len(words) >= _LEAST and len(found) > 1:
        return True
    if found and head.endswith("\n") and rest[:1] not in ("", "\n"):
        return True
    # The word in which the text was cut, from its beginning.
    return words.isalpha() and rest[:1].isalpha() and not head[-1:].isalnum()
