"""Ranks matching sections: those with a similar heading first, decision records and references last."""

import re

from signalbox.services.search.docs_index import Found
from signalbox.services.search.docs_snippet import stems

# Decision records explain why, and a reference lists names; the guide pages explain what.
_RECORDS = re.compile(r"(?:^|/)(?:(?:decisions|adr)/|(?:acceptance|[\w-]+-api)\.\w+$)")
_RECORDS_COUNT = 0.5
# An index page contains links, not answers.
_INDEXES = re.compile(r"(?:^|/)(?:readme|index)\.\w+$", re.IGNORECASE)
_INDEXES_COUNT = 0.8
_HEADING_COUNTS, _TITLE_COUNTS = 2.0, 0.5


def ranked(found: list[Found], words: set[str], unasked: frozenset[str]) -> list[Found]:
    """Return the sections, best first; `words` are stems of the question, `unasked` are stop words."""
    return sorted(found, key=lambda one: -_score(one, words, unasked))


def _score(one: Found, words: set[str], unasked: frozenset[str]) -> float:
    likeness = 1 + _HEADING_COUNTS * _likeness(one.heading, words, unasked)
    likeness += _TITLE_COUNTS * _likeness(one.title, words, unasked)
    if _RECORDS.search(one.path):
        likeness *= _RECORDS_COUNT
    if _INDEXES.search(one.path):
        likeness *= _INDEXES_COUNT
    return one.score * likeness


def _likeness(heading: str, words: set[str], unasked: frozenset[str]) -> float:
    """Return the similarity of a heading and the question, from 0 to 1.

    Text in parentheses is an alternative name, and counts only if the question contains it.
    """
    plain, _, extra = heading.partition(" (")
    terms = stems(" ".join(word for word in re.findall(r"\w+", plain) if word.lower() not in unasked))
    terms |= stems(extra) & words
    return len(terms & words) / len(terms | words) if terms and words else 0.0
