"""Parses tool results that the user message contains as text, because the provider rejected the calls."""

import re
from dataclasses import dataclass

_MARK = "(Tools were used here."
_CALL = re.compile(r"^([A-Za-z0-9_-]{1,64}) (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextResult:
    """A call in the text: name, arguments as JSON, result."""

    name: str
    arguments: str
    result: str


def question_of(text: str) -> str:
    """Return the user's text without the results after it."""
    return text.partition(_MARK)[0].strip() if _MARK in text else text


def results_in_text(text: str) -> list[TextResult]:
    """Return the calls and results in a text."""
    _, _, words = text.partition(_MARK)
    starts = [*_CALL.finditer(words)]
    ends = [start.start() for start in starts[1:]] + [len(words)] * bool(starts)
    return [
        TextResult(start[1], start[2], words[start.end() : end].strip())
        for start, end in zip(starts, ends, strict=True)
    ]
