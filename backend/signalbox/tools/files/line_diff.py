"""The difference of two texts by lines, with bounds on work and length."""

from difflib import unified_diff

from msgspec import Struct

# difflib's time grows up to the cube of the number of lines; equal lines at both ends are not given to it.
MOST_LINES = 400
LONGEST_DIFF = 6_000
_LONGEST_LINE = 300
_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file"


class LineDiff(Struct, frozen=True):
    """What changed: `text` is a unified diff, possibly shortened, and `first_changed_line` counts from 1."""

    text: str
    added: int
    removed: int
    first_changed_line: int


def lines_of(text: str) -> list[str]:
    """Return the lines with their breaks. Only a line feed ends a line, so numbers are those of an editor."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def line_count(text: str) -> int:
    """Return how many lines a text has; the last one needs no break."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)


def line_diff(old: str, new: str, path: str) -> LineDiff:
    """Compare two different texts of a file."""
    before, after = lines_of(old), lines_of(new)
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    changed_before, changed_after = before[head : len(before) - tail], after[head : len(after) - tail]
    first = min(head + 1, max(1, len(after)))
    if max(len(changed_before), len(changed_after)) > MOST_LINES:
        text = _coarse(changed_before, changed_after, head, path)
        return LineDiff(text, len(changed_after), len(changed_before), first)
    lines = _unified(before, after, head, tail, path)
    added, removed = (sum(line.startswith(sign) for line in lines[2:]) for sign in "+-")
    return LineDiff(_shortened(lines), added, removed, first)


def _common(one: list[str], other: list[str]) -> int:
    """Return how many lines at the start are equal."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _unified(before: list[str], after: list[str], head: int, tail: int, path: str) -> list[str]:
    """Return difflib's diff of the lines that differ and some around them, with line numbers of the whole file."""
    skipped = max(0, head - _CONTEXT)
    kept = max(0, tail - _CONTEXT)
    parts = (before[skipped : len(before) - kept], after[skipped : len(after) - kept])
    lines = [_shown(line) for line in unified_diff(*parts, path, path, n=_CONTEXT)]
    return [_moved(line, skipped) if line.startswith("@@") else line for line in lines]


def _moved(header: str, by: int) -> str:
    """Return the header of a hunk with line numbers that are `by` higher: `@@ -1,4 +1,5 @@`."""
    if not by:
        return header
    _, old, new, end = header.rstrip().split(" ")
    return " ".join(("@@", *(_moved_range(one, by) for one in (old, new)), end))


def _moved_range(one: str, by: int) -> str:
    start, comma, length = one[1:].partition(",")
    return f"{one[0]}{int(start) + by}{comma}{length}"


def _coarse(before: list[str], after: list[str], head: int, path: str) -> str:
    """Return all changed lines as one hunk, without looking for equal ones among them."""
    ranges = " ".join(f"{sign}{head + bool(part)},{len(part)}" for sign, part in (("-", before), ("+", after)))
    # More lines than can be shown need not be written.
    shown = [_shown(f"-{line}") for line in before[:MOST_LINES]] + [_shown(f"+{line}") for line in after[:MOST_LINES]]
    left = max(0, len(before) - MOST_LINES) + max(0, len(after) - MOST_LINES)
    return _shortened([f"--- {path}", f"+++ {path}", f"@@ {ranges} @@", *shown], left)


def _shown(line: str) -> str:
    """Return a line of a diff without its break; one that has none gets the usual note."""
    has_break = line.endswith("\n")
    words = line.rstrip("\r\n")
    if len(words) > _LONGEST_LINE:
        words = f"{words[:_LONGEST_LINE]}…"
    return words if has_break or line[:1] not in "+- " else f"{words}\n{_NO_NEWLINE}"


def _shortened(lines: list[str], left: int = 0) -> str:
    """Join lines up to the length that a model needs; say how many are left out."""
    size = 0
    for place, line in enumerate(lines):
        size += len(line) + 1
        if size > LONGEST_DIFF:
            left += len(lines) - place
            lines = lines[:place]
            break
    return "\n".join([*lines, f"… {left:,} more lines"] if left else lines)
