"""Parses and writes JSON: with orjson, or with a slower and more tolerant parser if orjson fails."""

import json
import re
from math import isfinite
from typing import cast

import orjson

from signalbox.core.messages import MAX_DEPTH, JsonValue, nests_too_deeply


def loads(data: bytes | str) -> JsonValue:
    """Parse JSON; raises ValueError.

    orjson rejects lone surrogates, NaN and raw control characters, which real providers send inside strings. The
    standard library parses such a frame, and values that cannot be serialized again are replaced.
    """
    value = _parsed(data)
    # The cheap checks come first: this runs for every frame.
    if len(data) > 2 * MAX_DEPTH and _brackets(data) > MAX_DEPTH and nests_too_deeply(value):
        raise ValueError("nested too deeply")
    return value


def _brackets(data: bytes | str) -> int:
    return data.count("{") + data.count("[") if isinstance(data, str) else data.count(b"{") + data.count(b"[")


def _parsed(data: bytes | str) -> JsonValue:
    try:
        return cast(JsonValue, orjson.loads(data))
    except orjson.JSONDecodeError:
        if len(data) > _MOST_TOLERATED:
            raise
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        try:
            return clean(cast(JsonValue, _TOLERANT.decode(text)))
        except RecursionError:
            raise ValueError("nested too deeply") from None


# The tolerant parser would be too slow for a longer text.
_MOST_TOLERATED = 4 * 1024 * 1024
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


def _null(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if isfinite(number) else None


# Built once: json.loads builds one for each text.
_TOLERANT = json.JSONDecoder(strict=False, parse_constant=_null, parse_float=_finite)


def dumps(value: JsonValue) -> bytes:
    """Write JSON, including integers beyond 64 bits, which orjson rejects and models send in arguments."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def clean(value: JsonValue) -> JsonValue:
    """Return the value with lone surrogates replaced in all its strings."""
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
    """Replace lone surrogates, which UTF-8 cannot encode; join a proper pair into its character."""
    if text.isascii():
        return text
    return _LONE.sub("\ufffd", _PAIR.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
