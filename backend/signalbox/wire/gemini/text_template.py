"""Decodes responses that differ from the one before only in a piece of text and in token counts.

Nearly all responses of a long answer do. They are compared as bytes, without parsing them.
"""

import json
import re
from typing import cast

import orjson
from msgspec import Struct

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.wire.gemini.values import object_in, objects_in
from signalbox.wire.json_text import loads

_TEXT = re.compile(rb'"text": ?"((?:[^"\\]|\\.)*)"')
_USAGE = re.compile(rb'"usageMetadata": ?')
_DIGITS = b"0123456789"
_ENDS = (b"\r\n\r\n", b"\n\n")
_FIELD = b"data: "
# The keys of a response whose only news is a piece of text.
_RESPONSE = {"candidates", "usageMetadata", "modelVersion", "responseId", "createTime"}
_CANDIDATE = {"content", "index"}
_CONTENT = {"parts", "role"}
_JSON = json.JSONDecoder()


class TextPiece(Struct, frozen=True, gc=False):
    """The text of one response, and its usage as JSON."""

    text: str
    usage: bytes


class TextTemplate:
    """The shape of the last response: what surrounds the text, and the usage without its digits."""

    def __init__(self) -> None:
        self._end = b""
        self._is_known = False
        self._before = b""
        self._between = b""
        self._usage = b""
        self._after = b""

    def frame_at(self, data: bytes, start: int) -> bytes:
        """Return the frame that begins at an index of a network read, with its end; the rest if the read cuts it."""
        end = self._end or next((end for end in _ENDS if end in data), _ENDS[0])
        at = data.find(end, start)
        return data[start:] if at < 0 else data[start : at + len(end)]

    def forget(self) -> None:
        """Recognise nothing until another shape is learned."""
        self._is_known = False

    def learn(self, frame: bytes) -> None:
        """Learn the shape of a frame with its field name and its end, if it has only a piece of text."""
        self.forget()
        end = next((end for end in _ENDS if frame.endswith(end)), b"")
        text, usage = _TEXT.search(frame), _USAGE.search(frame)
        if not end or not frame.startswith(_FIELD) or text is None or usage is None or usage.start() < text.end():
            return
        after = _end_of_value(frame, usage.end())
        if after is None or not _has_only_text(frame, text[1]):
            return
        self._before, self._between = frame[: text.start(1)], frame[text.end(1) : usage.end()]
        self._usage, self._after = frame[usage.end() : after].translate(None, _DIGITS), frame[after:]
        self._end, self._is_known = end, True

    def piece_of(self, frame: bytes) -> TextPiece | None:
        """Return the piece of a frame of the learned shape; None for any other."""
        before = self._before
        if not self._is_known or not frame.startswith(before) or not frame.endswith(self._after):
            return None
        at = frame.find(self._between, len(before))
        if at < 0:
            return None
        usage = frame[at + len(self._between) : len(frame) - len(self._after)]
        if usage.translate(None, _DIGITS) != self._usage:
            return None
        text = frame[len(before) : at]
        try:
            # With the quotes around it, text that holds a quote is not JSON: it was longer than one string.
            return TextPiece(cast(str, orjson.loads(b'"%b"' % text)), usage) if text else None
        except orjson.JSONDecodeError:
            return None


def usage_in(usage: bytes) -> JsonObject | None:
    """Parse the usage of a piece; None if it is not JSON."""
    try:
        value = loads(usage)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None


def _has_only_text(frame: bytes, text: bytes) -> bool:
    """Whether a response has one part with this text, and nothing else but usage and its origin."""
    try:
        response: JsonValue = loads(frame[len(_FIELD) :])
        said = loads(b'"%b"' % text)
    except ValueError:
        return False
    if not isinstance(response, dict) or not response.keys() <= _RESPONSE or not response.get("usageMetadata"):
        return False
    candidates = objects_in(response, "candidates")
    content = object_in(candidates[0], "content") if len(candidates) == 1 else {}
    is_first = bool(candidates) and candidates[0].keys() <= _CANDIDATE and candidates[0].get("index") in (0, None)
    return is_first and content.keys() <= _CONTENT and content.get("parts") == [{"text": said}]


def _end_of_value(frame: bytes, start: int) -> int | None:
    """Return where the JSON object that begins there ends."""
    text = frame[start:].decode("latin-1")
    try:
        return start + cast(tuple[JsonValue, int], _JSON.raw_decode(text))[1]
    except ValueError:
        return None
