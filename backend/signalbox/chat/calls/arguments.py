"""Parses and compares the argument text of calls."""

import json
import re
from math import isfinite
from typing import cast

from signalbox.core.messages import MAX_DEPTH, JsonObject, JsonValue, nests_too_deeply
from signalbox.core.parts import ArgumentStatus
from signalbox.wire.json_text import clean

_SPACE = re.compile(r"\s*")
_LITERALS = ("true", "false", "null")


def _reject(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _reject(text)


# Python's decoder accepts NaN, and reads 1e999 as infinity. JSON has neither, so no frame could contain them.
_STRICT = json.JSONDecoder(parse_constant=_reject, parse_float=_finite)


def read_arguments(text: str) -> tuple[ArgumentStatus, JsonValue]:
    """Classify an argument text, and parse it if it is JSON."""
    if not text.strip():
        return ArgumentStatus.EMPTY, {}
    try:
        value = _checked(cast(JsonValue, _STRICT.decode(text)), text)
    except json.JSONDecodeError as error:
        return (ArgumentStatus.TRUNCATED if _is_cut(text, error) else ArgumentStatus.INVALID), None
    except (ValueError, RecursionError):  # infinity, or thousands of digits or brackets
        return ArgumentStatus.INVALID, None
    return (ArgumentStatus.OK if isinstance(value, dict) else ArgumentStatus.NON_OBJECT), value


def object_in(text: str) -> JsonObject:
    """Return the object in the text of an announced call, which its tool received; an empty one if there is none."""
    _, value = read_arguments(text)
    return value if isinstance(value, dict) else {}


def leading_value(text: str) -> tuple[JsonValue, str] | None:
    """Return the JSON value that a text begins with, and the rest of the text; None if it begins with none."""
    read = value_at(text, 0)
    return None if read is None else (read[0], text[read[1] :])


def value_at(text: str, at: int) -> tuple[JsonValue, int] | None:
    """Return the JSON value at an index, and the index after it and its white space; None if there is no value."""
    try:
        value, end = cast(tuple[JsonValue, int], _STRICT.raw_decode(text, at))
        value = _checked(value, text[at:end])
    except (ValueError, RecursionError):
        return None
    space = _SPACE.match(text, end)
    return value, space.end() if space else end


def is_same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are the same JSON; to Python 1, 1.0 and true are equal."""
    return one is other or (one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


def _checked(value: JsonValue, text: str) -> JsonValue:
    """Reject what cannot be encoded again, and repair surrogates; raises ValueError."""
    # With no more brackets than allowed levels, which is nearly always, the value need not be walked.
    if text.count("{") + text.count("[") > MAX_DEPTH and nests_too_deeply(value):
        raise ValueError("nested too deeply")
    return clean(value) if "\\ud" in text or "\\uD" in text else value


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the decoder stopped at the end of the text, not at an error inside."""
    if error.msg.startswith("Unterminated string"):
        return True
    rest = text[error.pos :].strip()
    if error.msg.startswith("Extra data"):
        return False
    return rest in ("", "-") or any(word.startswith(rest) for word in _LITERALS) or error.msg.startswith("Invalid \\")
