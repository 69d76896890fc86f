"""What a search shows of the place where it found something."""

from bisect import bisect_left
from itertools import accumulate

from signalbox.conversations.titles import one_line
from signalbox.core.conversations import composed, folded

_BEFORE, _AFTER = 40, 100


def excerpt(text: str, wanted: str) -> str:
    """Return the words around the first place where `wanted`, which is folded, stands; the beginning where it does not.

    A letter may be longer once it is folded (ß), so places are counted in both.
    """
    text = composed(text)
    letters = folded(text)
    at = max(letters.find(wanted), 0)
    if len(letters) != len(text):
        at = bisect_left([*accumulate((len(folded(letter)) for letter in text), initial=0)], at + 1) - 1
    start, end = max(at - _BEFORE, 0), at + len(wanted) + _AFTER
    return ("…" if start else "") + one_line(text[start:end]) + ("…" if end < len(text) else "")
