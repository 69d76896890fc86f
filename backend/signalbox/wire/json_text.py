"""JSON text to values and back, first the quick and strict way, then the forgiving one."""

import json
import re
from math import isfinite
from typing import cast

import orjson

from signalbox.core.messages import MAX_DEPTH, JsonValue, nests_too_deeply


def loads(data: bytes | str) -> JsonValue:
    """Parse JSON; raises ValueError.

    orjson refuses lone surrogates, NaN and raw control characters, which real hosts send inside strings; a frame with
    one of them is kept: the standard library reads it, and what cannot be sent on is replaced.
    """
    value = _parsed(data)
    # Length and count come first: nearly no text holds so many brackets, and this runs for every frame.
    if len(data) > 2 * MAX_DEPTH and _brackets(data) > MAX_DEPTH and nests_too_deeply(value):
        raise ValueError("nested too deeply")
    return value


def _brackets(data: bytes | str) -> int:
    return data.count("{") + data.count("[") if isinstance(data, str) else data.count(b"{") + data.count(b"[")


def _parsed(data: bytes | str) -> JsonValue:
    try:
        return cast(JsonValue, orjson.loads(data))
    except orjson.JSONDecodeError:
        if len(data) > _MOST_FORGIVEN:
            raise
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        try:
            return clean(cast(JsonValue, _FORGIVING.decode(text)))
        except RecursionError:
            raise ValueError("nested too deeply") from None


# Of more than this the forgiving way would take too long; what needs it, and is so long, is no frame.
_MOST_FORGIVEN = 4 * 1024 * 1024
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


def _null(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


# Made once: json.loads would make one for each text.
_FORGIVING = json.JSONDecoder(strict=False, parse_constant=_null, parse_float=_finite)


def dumps(value: JsonValue) -> bytes:
    """Write JSON; orjson refuses integers beyond 64 bits, which models do send in arguments."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def clean(value: JsonValue) -> JsonValue:
    """Return the value with what cannot be written as UTF-8 replaced in all its texts."""
    match value:
        case str():
            return clean_text(value)
        case list():
            return [clean(item) for item in value]
        case dict():
            return {clean_text(key): clean(item) for key, item in value.items()}
        case _:
            return value


def clean_text(text: str) -> str:
    """Replace lone surrogates, which cannot be written as UTF-8; a proper pair in two halves becomes its character."""
    if text.isascii():
        return text
    return _LONE.sub("\ufffd", _PAIR.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
