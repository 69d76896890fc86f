"""Reads fields of Gemini's JSON whose type is not certain."""

from signalbox.core.messages import JsonObject, JsonValue

# Larger counts are invalid; JavaScript cannot represent larger integers exactly.
_MOST = 2**53


def text_in(fields: JsonObject, key: str) -> str:
    """Return a field that is a string, else an empty one."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def object_in(fields: JsonObject, key: str) -> JsonObject:
    """Return a field that is an object, else an empty one."""
    value = fields.get(key)
    return value if isinstance(value, dict) else {}


def objects_in(fields: JsonObject, key: str) -> list[JsonObject]:
    """Return the objects of a field that is a list."""
    value = fields.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def count_in(fields: JsonObject, key: str) -> int:
    """Return a field that is a plausible count, else 0."""
    value = fields.get(key)
    return value if type(value) is int and 0 <= value <= _MOST else 0


def index_of(value: JsonValue) -> int | None:
    """Return an index of a list, None for anything else."""
    return value if type(value) is int and 0 <= value < _MOST else None
