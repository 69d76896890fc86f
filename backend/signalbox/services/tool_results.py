"""Converts tool results to strict JSON within limits, and cuts them for the model."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Final, cast

import orjson

from signalbox.core.messages import JsonObject, JsonValue

# Approximate characters of JSON; each value and key counts as 16 more, because a million of them take a second.
_MB = 1024 * 1024
MOST_CHARACTERS = 16 * _MB
_PER_VALUE = 16
_DEEPEST = 200
# Python does not format integers of more than 4,300 digits, which would take quadratic time.
_MOST_DIGITS = 4_000
_BITS_PER_DIGIT = 10 / 3
_CUT = "\n…\n"


class ExcessiveResultError(Exception):
    """A result that exceeds a limit; `reason` completes "The result of NAME …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: Final = reason


@dataclass(frozen=True, slots=True)
class Written:
    """A result as JSON; a text stays a text."""

    json: str
    text: str | None = None

    @property
    def size(self) -> int:
        """The number of characters of its JSON; for a text a lower bound."""
        return len(self.json)

    def capped(self, limit: int, *, crowded: bool = False) -> JsonValue:
        """Return the result; if it is too long, its head and tail with a note for the model."""
        if len(self.json) <= limit:
            return self.text if self.text is not None else orjson.loads(self.json)
        return _shortened(self.text if self.text is not None else self.json, limit, crowded=crowded)


def as_json(result: object, most: int = MOST_CHARACTERS) -> Written:
    """Encode a result as JSON; raises ExcessiveResultError, and TypeError for a value that JSON cannot express.

    NaN and Infinity become null, integers beyond 64 bits become text, lone surrogates become U+FFFD.
    """
    measured(result, most, is_bound=True)
    if isinstance(result, str):
        text = without_surrogates(result)
        return Written(orjson.dumps(text).decode(), text)
    try:
        return Written(orjson.dumps(result).decode())
    except TypeError:
        return Written(orjson.dumps(_repaired(result), option=orjson.OPT_NON_STR_KEYS).decode())


def measured(result: object, most: int, *, is_bound: bool = False) -> int:
    """Return the approximate size of a result in characters of JSON; stops counting above `most`.

    Shared values count at each occurrence, because JSON repeats them: a list that contains another list twice, and so
    on, grows exponentially. With `is_bound`, a larger or too deep result raises ExcessiveResultError.
    """
    size = 0
    layer: list[object] = [result]
    for _ in range(_DEEPEST):
        inner: list[object] = []
        for value in layer:
            size += _size_of(value)
            if size > most:
                if is_bound:
                    raise ExcessiveResultError(f"is longer than {_size_in_words(most)} of JSON")
                return size
            inner += _values_in(value)
        if not inner:
            return size
        layer = inner
    if is_bound:
        raise ExcessiveResultError(f"is nested more than {_DEEPEST} levels deep")
    return most


def _size_in_words(size: int) -> str:
    return f"{size // _MB} MB" if size >= _MB else f"{size // 1024} KB"


def _size_of(value: object) -> int:
    match value:
        case str():
            return _PER_VALUE + len(value)
        case int():
            digits = int(value.bit_length() / _BITS_PER_DIGIT)
            if digits > _MOST_DIGITS:
                raise ExcessiveResultError(f"holds a number of more than {_MOST_DIGITS:,} digits")
            return _PER_VALUE + digits
        case list() | tuple():
            return _PER_VALUE * (1 + len(cast("list[object]", value)))
        case dict():
            return _PER_VALUE + sum(map(_size_of, cast("dict[object, object]", value)))
        case _:
            return _PER_VALUE


def _values_in(value: object) -> Iterable[object]:
    """Return the JSON children of a value, as orjson serializes data classes and enumerations."""
    match value:
        case str() | int() | float() | None:
            return ()
        case list() | tuple():
            return cast("list[object]", value)
        case dict():
            return cast("dict[object, object]", value).values()
        case Enum():
            return (value.value,)
        case _ if is_dataclass(value):
            return [getattr(value, one.name, None) for one in fields(value)]
        case _:
            return ()


def _repaired(value: object) -> object:
    """Replace values that orjson rejects but JSON can express; the depth is already limited."""
    match value:
        case str():
            return without_surrogates(value)
        case bool():
            return value
        case int():
            return value if -(2**63) <= value < 2**64 else str(value)
        case float():
            return float(value)  # of a subclass, as NumPy's
        case list() | tuple():
            return [_repaired(item) for item in cast("list[object]", value)]
        case dict():
            return {_repaired(key): _repaired(item) for key, item in cast("dict[object, object]", value).items()}
        case _:
            return value


def without_surrogates(text: str) -> str:
    """Return a text that can be encoded as UTF-8, and that is no subclass of `str`, which events cannot hold."""
    plain = str.__str__(text)
    return plain.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if not plain.isascii() else plain


def _shortened(whole: str, limit: int, *, crowded: bool) -> JsonValue:
    keep = min(limit, len(whole))
    while True:
        capped = _head_and_tail(whole, keep, crowded=crowded)
        size = len(orjson.dumps(capped).decode())
        if size <= limit or keep == 0:
            return capped
        # Escaping makes the text longer by an unknown amount, so the length is approximated.
        keep = max(0, keep * limit // size - len(_CUT) * 8)


def _head_and_tail(whole: str, keep: int, *, crowded: bool) -> JsonObject:
    tail = keep // 4
    why = "; the results of this answer are many: answer from them, or ask for one thing alone" if crowded else ""
    note = f"kept {keep:,} of {len(whole):,} characters; ask for less{why}"
    return {"truncated": note, "text": whole[: keep - tail] + _CUT + whole[len(whole) - tail :]}
