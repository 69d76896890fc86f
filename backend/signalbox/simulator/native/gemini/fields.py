"""Access to fields of a request, which may have names in camelCase or in snake_case."""

import re
from collections.abc import Mapping
from typing import Any

from .errors import unknown_field


def snake(name: str) -> str:
    """Return a field's name in snake_case, as error messages write it."""
    return re.sub(r"[A-Z]", lambda found: "_" + found[0].lower(), name)


def field(value: Mapping[str, Any], name: str) -> Any:
    """Return a field by its camelCase name, None if it is missing."""
    return value.get(name, value.get(snake(name)))


def names_only(value: Mapping[str, Any], known: str, where: str) -> None:
    """Reject a field that is not among `known`, which are camelCase names."""
    names = {spelled for name in known.split() for spelled in (name, snake(name))}
    for name in value:
        if name not in names:
            raise unknown_field(name, where)
