"""Excerpts around search matches."""

from bisect import bisect_left
from itertools import accumulate

from signalbox.conversations.titles import one_line
from signalbox.core.conversations import case_folded, composed

_BEFORE, _AFTER = 40, 100


def excerpt(text: str, wanted: str) -> str:
    """Return the text around the first match of `wanted`, a case-folded text; without a match, the beginning.

    Case folding may lengthen a character (ß), so offsets are mapped back to the original text.
    """
    text = composed(text)
    letters = case_folded(text)
    at = max(letters.find(wanted), 0)
    if len(letters) != len(text):
        at = bisect_left([*accumulate((len(case_folded(letter)) for letter in text), initial=0)], at + 1) - 1
    start, end = max(at - _BEFORE, 0), at + len(wanted) + _AFTER
    return ("…" if start else "") + one_line(text[start:end]) + ("…" if end < len(text) else "")
