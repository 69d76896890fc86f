"""Decides by shared words if search results are about the question, and selects what to quote."""

import re
from collections.abc import Iterable

from .tool_results import tidy

# Words that any page may contain, whatever its topic.
_FILLERS = frozenset(
    re.findall(
        r"\w+",
        "a about actually all an and any are as at be been being best between but by can could did different do does "
        "doing done each else every exactly explain find for from get gets give go goes had happen happened happens "
        "has have how i if in into is it its just kind know like list long made make makes many may me mean means "
        "more most much my need needs new no not now of off on one or other our out over please really same say says "
        "search should show so some such tell than that the their them then there these they thing things this those "
        "to too up use used uses using very want was way we were what when where which who whom whose why will with "
        "work works would you your",
    )
)
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")
_LONGEST_ENDING = 4
# Of three or more words, this share must be found.
_MIN_SHARE = 0.6
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")


def content_stems(query: str) -> set[str]:
    """Return the stems of a query's content words."""
    words = [word for word in re.findall(r"\w+", query.casefold()) if len(word) > 1]
    return {_stem(word) for word in words if word not in _FILLERS} or {_stem(word) for word in words}


def shared(words: Iterable[str], text: str) -> set[str]:
    """Return the stems that occur in a text, in any form."""
    there = set(re.findall(r"\w+", text.casefold()))
    there |= {part for word in there for part in word.split("_")}
    return {word for word in words if any(_is_form(other, word) for other in there)}


def is_about(words: set[str], found: set[str]) -> bool:
    """Return whether enough content words were found: all if there are at most two, else most."""
    return len(found) >= (len(words) if len(words) < 3 else _MIN_SHARE * len(words))


def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > 4 else word


def _is_form(word: str, stem: str) -> bool:
    longest = len(stem) + (_LONGEST_ENDING if len(stem) > 3 else 1)
    return word.startswith(stem) and len(word) <= longest


def quote(text: str, limit: int) -> str:
    """Return complete sentences from the beginning of a snippet, up to the first gap ("…")."""
    first, *rest = sentences(text)
    quoted = first
    for sentence in rest:
        if len(quoted) + len(sentence) >= limit:
            break
        quoted += f" {sentence}"
    return tidy(quoted, limit)


def sentences(text: str) -> list[str]:
    """Return the complete sentences at the beginning of a snippet, up to the first gap ("…"); at least one."""
    pieces = [piece.strip() for piece in text.split("…")]
    at = next((at for at, piece in enumerate(pieces) if piece), 0)
    found = _SENTENCES.split(pieces[at])
    if at and len(found) > 1:
        del found[0]  # its beginning lies before the gap
    if at + 1 < len(pieces) and len(found) > 1 and not re.search(r"[.!?][\"')”]*$", found[-1]):
        del found[-1]
    return found
