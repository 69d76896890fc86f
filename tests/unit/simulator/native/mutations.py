"""Mutations of a JSON body: another value, or none, at each place."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

VALUES: tuple[Any, ...] = (None, True, 0, -1, 1.5, 1e300, "", "x", "user", "\u2028", [], {}, [1], ["x"], [{}], [[]])
Path = tuple[Any, ...]


def paths(value: Any, before: Path = ()) -> Iterator[Path]:
    """Return the paths of all values inside a JSON value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*before, key)
        yield from paths(inner, (*before, key))


def mutated(body: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """Return a copy with another value at a path; `None` removes the field or item."""
    copy: Any = deepcopy(body)
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    if value is None:
        del inside[path[-1]]
    else:
        inside[path[-1]] = deepcopy(value)
    return copy
