"""Removes from a continuation what it repeats of the text that it continues.

The page does the same while the continuation streams (`frontend/src/logic/trace/overlap.ts`); both are tested against
`tests/unit/conversations/overlaps.json`.
"""

import re

# Characters at the end of the text that are searched for a repetition.
WINDOW = 600
# A short repetition may be intended, so each kind has a minimum length: words of an unfinished line, a completed word,
# and at least two whole lines.
_LEAST, _LEAST_WORD, _LEAST_LINES = 12, 4, 40
_WORDS = re.compile(r"[^\W\d_]{2,}")
_BLOCK_MARK = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BLANK = re.compile(r"^[\s…]+")


def added(before: str, more: str) -> str:
    """Return `more` without a reopened code fence and without repeated text of `before`."""
    more = _inside_code_block(before, more)
    blank = _BLANK.match(more)
    opens_line = blank is not None and "\n" in blank[0]
    for text in (more, _BLANK.sub("", more)):
        if size := _repeated(before, text, opens_line=opens_line):
            return text[size:]
    return more


def _inside_code_block(before: str, more: str) -> str:
    """Drop a first line that reopens the code block in which `before` ends."""
    mark = open_code_block(before)
    head, _, rest = more.lstrip("\n").partition("\n")
    found = _BLOCK_MARK.match(head)
    if mark is None or found is None or found[1][0] != mark[0] or not found[2].strip():
        return more
    return rest


def open_code_block(text: str) -> str | None:
    """Return the code fence that is open at the end of a text, or None."""
    mark: str | None = None
    for line in text.split("\n"):
        found = _BLOCK_MARK.match(line)
        if found is None:
            continue
        if mark is None:
            mark = found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            mark = None
    return mark


def _repeated(before: str, more: str, *, opens_line: bool) -> int:
    """Return how many characters at the start of `more` repeat the end of `before`."""
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
    """Return whether the text is periodic, alone or with its surroundings, and so repeats on purpose."""
    size = len(words)
    period = next(n for n in range(1, size + 1) if words.startswith(words[n:]))
    unit = words[:period]
    return 2 * period <= size or head.endswith(unit) or (period == size and rest.startswith(unit))


def _ends_line(text: str) -> bool:
    return text.rstrip(" \t").endswith("\n")


def _are_lines(head: str, words: str) -> bool:
    """Return whether a repetition after a finished line is long enough; code, tables and lists have equal lines."""
    lines = [line for line in words.split("\n") if line.strip()]
    is_from_start = not head or _ends_line(head) or words.startswith("\n")
    return is_from_start and len(lines) > 1 and len(words) >= _LEAST_LINES


def _is_unfinished(head: str, words: str, rest: str) -> bool:
    """Return whether the repetition is the end of an unfinished line, or the start of one that continues."""
    found = _WORDS.findall(words)
    if len(words) >= _LEAST and len(found) > 1:
        return True
    if found and head.endswith("\n") and rest[:1] not in ("", "\n"):
        return True
    # The word in which the text was cut off.
    return words.isalpha() and rest[:1].isalpha() and not head[-1:].isalnum()
