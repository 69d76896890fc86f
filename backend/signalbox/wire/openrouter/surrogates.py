r"""A character in two frames: `"A \ud83d"`, then `"\ude00 B"`.

A proxy in a language whose texts are UTF-16 (JavaScript, Java, C#) may cut between the two halves of a character. Each
half alone is no text: two replacement characters went to the client, and into a tool's arguments (quirk E6). No
recording has one; a scripted upstream found it.
"""

import re

from signalbox.wire.json_weight import LARGE

_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_KEY = rb'"(\w+)": ?"'
# A text at whose end is a first half. What is before it goes in pairs, so that no escaped backslash is taken for one.
_ENDS = re.compile(_KEY + rb'(?:[^"\\]|\\.)*?(' + _HIGH + rb')(?=")')
_BEGINS = re.compile(_KEY + rb"(?=" + _LOW + rb")")
_LIKELY = re.compile(_HIGH + rb'"')


def ends_within(data: bytes) -> bool:
    """Whether a text of this JSON ends with the first half of a character; in a large frame that is not looked for."""
    return len(data) <= LARGE and _LIKELY.search(data) is not None and _ENDS.search(data) is not None


def joined(first: bytes, second: bytes) -> tuple[bytes, bytes]:
    """Move first halves from the ends of texts to the second halves with which texts of the same name go on."""
    wanted = {match[1] for match in _BEGINS.finditer(second)}
    moved = {match[1]: match[2] for match in _ENDS.finditer(first) if match[1] in wanted}
    return _without(first, moved), _BEGINS.sub(lambda match: match[0] + moved.get(match[1], b""), second)


def _without(data: bytes, moved: dict[bytes, bytes]) -> bytes:
    def cut(match: re.Match[bytes]) -> bytes:
        return match[0].removesuffix(match[2]) if match[1] in moved else match[0]

    return _ENDS.sub(cut, data)
