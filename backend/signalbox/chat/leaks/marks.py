"""Patterns for the marks of the dialects; they also match a mark that is not complete yet."""

import re
from collections.abc import Iterable
from functools import cache

_BAR = "[|｜‖]"

# Marks are written in their plain form. Providers alter them: fullwidth, double or spaced bars, and low blocks or
# nothing for underscores (lsdefine/GenericAgent#804, MetaFARS/codex-relay#49).
_FORMS = {
    "|": (" ?", _BAR, " ?", _BAR + "?", " ?"),
    "_": ("[_▁]?",),
    "/": (" ?", "/"),
    ">": (" ?", ">"),
}


def _atoms(mark: str) -> list[str]:
    """Return the patterns of single characters that make up a mark; those ending in `?` may be absent."""
    return [atom for letter in mark for atom in _FORMS.get(letter, (re.escape(letter),))]


def _pattern(mark: str) -> str:
    """Match a mark, or its beginning at the end of the text; only a complete mark sets its (empty) group.

    A mark must not end in a form of variable length (`|`), nor be the beginning of another mark in the same search.
    Otherwise the result would depend on where the stream is cut.
    """
    first, *rest = _atoms(mark)
    found = "()"
    for atom in reversed(rest):
        found = atom + found if atom.endswith("?") else rf"(?:\Z|{atom}{found})"
    return first + found


def either(marks: Iterable[str]) -> str:
    """Match any of several marks; the number of the group that is set identifies the mark."""
    return "|".join(_pattern(mark) for mark in marks)


@cache
def compiled(marks: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the pattern of several marks, once."""
    return re.compile(either(marks))


def longest(marks: Iterable[str]) -> int:
    """Return the maximum length of these marks."""
    return max(len(_atoms(mark)) for mark in marks)
