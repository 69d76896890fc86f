"""Types that only pydantic reads completely, such as `Annotated[int, Field(ge=1)]`: msgspec ignores `Field`.

pydantic itself is not needed: a program that uses its types has imported it.
"""

import dataclasses
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from msgspec import Meta

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.tools.functions.safe_schema import safe_schema

_MOST_ERRORS = 3
_BOUNDS = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length")
# Attributes of a TypedDict, a NamedTuple and a msgspec Struct. `is_typeddict` knows only the TypedDict of `typing`.
_CLASSES_WITH_FIELDS = ("__required_keys__", "_fields", "__struct_fields__")
_OF_PYDANTIC = ("pydantic", "annotated_types")


class PydanticType:
    """A type that pydantic describes and converts. Raises TypeError, which does not name the parameter."""

    def __init__(self, hint: Any) -> None:
        if any(_has_bounds(mark) for mark in _marks(hint, set())):
            raise TypeError("it has bounds in msgspec.Meta and in pydantic's Field: use one of them")
        try:
            # Not an import statement: the package works without pydantic.
            pydantic = import_module("pydantic")
        except ModuleNotFoundError:
            raise TypeError("its bounds need pydantic: install pydantic, or use msgspec.Meta") from None
        try:
            self._adapter = pydantic.TypeAdapter(hint)
            self._schema = dict(self._adapter.json_schema())
        except (TypeError, NameError, pydantic.PydanticUserError) as error:
            raise TypeError(f"pydantic, which reads its bounds, says: {first_line(error)}") from None

    def schema(self, description: str | None) -> JsonObject:
        """Return the JSON Schema with the keywords that every provider accepts."""
        return safe_schema({**self._schema, **({"description": description} if description else {})})

    def convert(self, value: object, name: str) -> object:
        """Return the argument as this type; raises ToolError, which names the wrong field."""
        try:
            return self._adapter.validate_python(value)
        except ValueError as error:
            raise ToolError(Code.INVALID_ARGUMENTS, "; ".join(faults(error, name))) from None


def needs_pydantic(hint: Any) -> bool:
    """Return whether a type, or one inside it, has bounds or validators of pydantic."""
    return any(_is_of_pydantic(mark) for mark in _marks(hint, set()))


def faults(error: Any, inside: str = "") -> Iterator[str]:
    """Yield the first faults of pydantic's ValidationError, without the input that its own message quotes."""
    for fault in error.errors()[:_MOST_ERRORS]:
        path = ".".join(filter(None, (inside, *map(str, fault["loc"]))))
        yield f"{path}: {fault['msg']}" if path else str(fault["msg"])


def first_line(error: Exception) -> str:
    """Return what msgspec or pydantic says about a type, without advice for its own users."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "is not supported" in line] or lines[:1] or [type(error).__name__]
    return told[0].strip().partition(". ")[0]  # without advice about settings of models


def _marks(hint: Any, seen: set[Any]) -> Iterator[object]:
    """Yield the metadata of a type and of all types inside it, and the classes that pydantic must read."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
    for one in get_args(hint):
        yield from _marks(one, seen)
    if not isinstance(hint, type) or hint in seen or get_origin(hint) is not None:
        return
    kind = cast("type[Any]", hint)
    seen.add(kind)
    if hasattr(kind, "model_validate"):
        return  # a model: it checks its own fields
    if hasattr(kind, "__pydantic_validator__") or hasattr(kind, "__get_pydantic_core_schema__"):
        yield kind
    elif dataclasses.is_dataclass(kind) or any(hasattr(kind, name) for name in _CLASSES_WITH_FIELDS):
        for one in get_type_hints(kind, include_extras=True).values():
            yield from _marks(one, seen)


def _is_of_pydantic(mark: object) -> bool:
    if isinstance(mark, type):
        return True
    if type(mark).__module__.partition(".")[0] not in _OF_PYDANTIC:
        return False
    if type(mark).__name__ != "FieldInfo":
        return True
    # A Field with only a description is read without pydantic.
    return bool(getattr(mark, "metadata", None) or getattr(mark, "discriminator", None))


def _has_bounds(mark: object) -> bool:
    return isinstance(mark, Meta) and any(getattr(mark, bound) is not None for bound in _BOUNDS)
