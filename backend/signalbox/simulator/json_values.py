"""Typed access to JSON of unknown shape."""

from typing import Any, cast


def as_object(value: object) -> dict[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def as_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    return [cast(dict[str, Any], entry) for entry in as_list(value) if isinstance(entry, dict)]
