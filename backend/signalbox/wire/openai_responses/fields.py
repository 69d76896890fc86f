"""Reads fields of JSON whose types the upstream does not guarantee."""

from signalbox.core.messages import JsonObject, JsonValue

# Larger counts and prices are invalid; JavaScript cannot represent larger integers exactly.
_MOST = 2**53


def text_of(value: JsonValue) -> str:
    """Return a string; any other value counts as empty."""
    return value if isinstance(value, str) else ""


def object_of(value: JsonValue) -> JsonObject:
    """Return an object; any other value counts as empty."""
    return value if isinstance(value, dict) else {}


def objects_of(value: JsonValue) -> list[JsonObject]:
    """Return the objects of a list; any other value counts as an empty list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count_of(value: JsonValue) -> int:
    """Return a number of tokens; any other value counts as 0."""
    return value if type(value) is int and 0 <= value < _MOST else 0


def price_of(value: JsonValue) -> float | None:
    """Return a price; any other value counts as absent."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST:
        return float(value)
    return None


def index_of(value: JsonValue) -> int:
    """Return an index; any other value counts as 0."""
    return value if type(value) is int and 0 <= value < _MOST else 0
