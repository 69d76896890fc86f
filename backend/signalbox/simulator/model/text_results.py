"""Tool results that come back in words, in the user's turn: told so to hosts that refuse the calls themselves."""

import re
from dataclasses import dataclass

_MARK = "(Tools were used here."
_CALL = re.compile(r"^([A-Za-z0-9_-]{1,64}) (\{.*\})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TextResult:
    """One call as it is told: its name, its arguments as JSON, and what it returned."""

    name: str
    arguments: str
    result: str


def question_of(text: str) -> str:
    """Return what the user said, without what was told behind it."""
    return text.partition(_MARK)[0].strip() if _MARK in text else text


def results_in_text(text: str) -> list[TextResult]:
    """Read the calls that a text tells."""
    _, _, words = text.partition(_MARK)
    starts = [*_CALL.finditer(words)]
    ends = [start.start() for start in starts[1:]] + [len(words)] * bool(starts)
    return [
        TextResult(start[1], start[2], words[start.end() : end].strip())
        for start, end in zip(starts, ends, strict=True)
    ]
