"""JSON text to values, first the quick and strict way, then the forgiving one."""

import json
from typing import cast

import orjson

from signalbox.core.messages import JsonValue

# Deeper nesting than this is refused before parsing: it costs many times its size in memory (quirk G6).
MAX_DEPTH = 200


def loads(data: bytes | str) -> JsonValue:
    """Parse JSON; raises ValueError.

    orjson refuses lone surrogates, NaN and raw control characters, which real hosts send inside strings; a frame with
    one of them is kept: the standard library reads it, and what cannot be sent on is replaced.
    """
    try:
        return cast(JsonValue, orjson.loads(data))
    except orjson.JSONDecodeError:
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        try:
            return _clean(cast(JsonValue, json.loads(text, strict=False, parse_constant=_null)))
        except RecursionError:
            raise ValueError("nested too deeply") from None


def _null(_: str) -> None:
    return None


def _clean(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return clean_text(value)
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {clean_text(key): _clean(item) for key, item in value.items()}
        case _:
            return value


def clean_text(text: str) -> str:
    """Replace lone surrogates, which cannot be written as UTF-8; a proper pair in two halves becomes its character."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
