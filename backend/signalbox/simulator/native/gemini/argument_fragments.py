"""Streams the arguments of a call in pieces, as Gemini does for `streamFunctionCallArguments`."""

from collections.abc import Iterator
from typing import Any

from ...families.chunking import groups
from ...json_values import as_list, as_object
from .contents import Part

_CUT = groups(3)


def fragments(name: str, arguments: dict[str, Any], signature: Part) -> Iterator[Part]:
    """Return the parts of a call: its name, one part for each piece of a value, and an empty call at the end."""
    yield {"functionCall": {"name": name, "willContinue": True}, **signature}
    for path, value in _leaves("$", arguments):
        for piece in _pieces(path, value):
            yield {"functionCall": {"partialArgs": [piece], "willContinue": True}}
    yield {"functionCall": {}}


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Return each value that is not an object or a list, with its JSON path."""
    for name, inner in as_object(value).items():
        yield from _leaves(f"{path}.{name}", inner)
    for at, inner in enumerate(as_list(value)):
        yield from _leaves(f"{path}[{at}]", inner)
    if not isinstance(value, dict | list):
        yield path, value


def _pieces(path: str, value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, str):
        for text in _CUT(value):
            yield {"jsonPath": path, "stringValue": text, "willContinue": True}
        yield {"jsonPath": path, "stringValue": ""}
    elif isinstance(value, bool):
        yield {"jsonPath": path, "boolValue": value}
    elif value is None:
        yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
    else:
        yield {"jsonPath": path, "numberValue": value}
