r"""Joins a character that is split over two frames: `"A \ud83d"`, then `"\ude00 B"`.

A proxy in a language with UTF-16 strings (JavaScript, Java, C#) may cut between the two halves of a character. Each
half alone is invalid: clients and tools would get two replacement characters (quirk E6). No recording contains this;
a scripted upstream does.
"""

import re

from signalbox.wire.json_weight import LARGE

_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_KEY = rb'"(\w+)": ?"'
# A string that ends with a first half. Escapes before it are consumed in pairs, so an escaped backslash is not one.
_ENDS = re.compile(_KEY + rb'(?:[^"\\]|\\.)*?(' + _HIGH + rb')(?=")')
_BEGINS = re.compile(_KEY + rb"(?=" + _LOW + rb")")
_LIKELY = re.compile(_HIGH + rb'"')


def ends_within(data: bytes) -> bool:
    """Whether a string of this JSON ends with the first half of a character; large frames are not searched."""
    return len(data) <= LARGE and _LIKELY.search(data) is not None and _ENDS.search(data) is not None


def joined(first: bytes, second: bytes) -> tuple[bytes, bytes]:
    """Move first halves from the ends of strings to the second halves that begin the strings of the same key."""
    wanted = {match[1] for match in _BEGINS.finditer(second)}
    moved = {match[1]: match[2] for match in _ENDS.finditer(first) if match[1] in wanted}
    return _without(first, moved), _BEGINS.sub(lambda match: match[0] + moved.get(match[1], b""), second)


def _without(data: bytes, moved: dict[bytes, bytes]) -> bytes:
    def cut(match: re.Match[bytes]) -> bytes:
        return match[0].removesuffix(match[2]) if match[1] in moved else match[0]

    return _ENDS.sub(cut, data)
