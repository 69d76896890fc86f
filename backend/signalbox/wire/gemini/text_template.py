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
# Frames that are compared at once; the rest of a large read is not searched again and again.
_LONGEST_RUN = 64


class TextRun(Struct, frozen=True, gc=False):
    """The texts of consecutive responses, and what follows each of them: the usage as JSON, and `after` more bytes.

    `size` is the number of bytes of the run.
    """

    texts: list[str]
    tails: list[bytes]
    after: int
    size: int

    def usage_at(self, place: int) -> bytes:
        """Return the usage of a response as JSON."""
        tail = self.tails[place]
        return tail[: len(tail) - self.after]


class TextTemplate:
    """The shape of the last response: what surrounds the text, and what follows it without its digits."""

    def __init__(self) -> None:
        self._end = b""
        self._is_known = False
        self._before = b""
        self._between = b""
        self._after = b""
        self._tail = b""

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
        self._after, self._tail = frame[after:], frame[usage.end() :].translate(None, _DIGITS)
        self._end, self._is_known = end, True

    def run_at(self, data: bytes, start: int) -> TextRun | None:
        """Return the frames of the learned shape that begin at an index; None if the first one differs."""
        before, between, after, tail = self._before, self._between, self._after, self._tail
        if not self._is_known or not data.startswith(before, start):
            return None
        texts: list[bytes] = []
        tails: list[bytes] = []
        size = 0
        for frame in data[start + len(before) :].split(before, _LONGEST_RUN)[:_LONGEST_RUN]:
            text, _, rest = frame.partition(between)
            if not text or not rest.endswith(after) or rest.translate(None, _DIGITS) != tail:
                break
            if b'"' in text and _parsed([text]) is None:
                break  # joined with the others, it could look like several strings
            texts.append(text)
            tails.append(rest)
            size += len(before) + len(frame)
        if not texts:
            return None
        parsed = _parsed(texts)
        if parsed is not None:
            return TextRun(parsed, tails, len(after), size)
        parsed = _parsed(texts[:1])  # a later frame's text is not one JSON string
        size = len(before) + len(texts[0]) + len(between) + len(tails[0])
        return TextRun(parsed, tails[:1], len(after), size) if parsed else None


def usage_in(usage: bytes) -> JsonObject | None:
    """Parse the usage of a response; None if it is not JSON."""
    try:
        value = loads(usage)
    except ValueError:
        return None
    return value if isinstance(value, dict) and value else None


def _parsed(texts: list[bytes]) -> list[str] | None:
    """Parse the content of JSON strings; None if one is not a string, or more than one: it holds a quote."""
    try:
        values = cast(list[str], orjson.loads(b'["%b"]' % b'","'.join(texts)))
    except orjson.JSONDecodeError:
        return None
    return values if len(values) == len(texts) else None


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
