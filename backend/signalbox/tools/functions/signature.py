"""Reads the parameters of a function that becomes a tool. Errors name the function and the parameter."""

import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from signalbox.core.tools import ToolContext

_UNIONS = (Union, types.UnionType)
# What evaluating an annotation raises: it is any expression, or any text.
UNREADABLE = (NameError, AttributeError, TypeError, SyntaxError)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the model fills; without a default, `default` is `inspect.Parameter.empty`."""

    name: str
    hint: Any
    default: Any

    @property
    def is_required(self) -> bool:
        """Whether the function has no default for it."""
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters that the model fills, and the name of the parameter that gets the ToolContext, if any."""

    function_name: str
    parameters: tuple[Parameter, ...]
    context_name: str | None


def read_signature(function: Callable[..., object]) -> Signature:
    """Return the signature of a function or bound method; raises TypeError if no model can call it."""
    name = name_of(function)
    if isinstance(function, type) or not (callable(function) and inspect.isroutine(function)):
        kind = f"the class {name}" if isinstance(function, type) else f"an object of type {type(function).__name__}"
        raise TypeError(f"@tool needs a function or a bound method, got {kind}: write a function that calls it")
    found = _parameters_of(function)
    _check_is_bound(name, found)
    hints = _hints_of(function, name)
    filled: list[Parameter] = []
    contexts: list[str] = []
    for one in found.values():
        if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise TypeError(f"the parameter {one.name} of {name} cannot be passed by name")
        hint = hints.get(one.name, Any)
        if _is_context(hint, one.name, name):
            contexts.append(one.name)
            continue
        _check_default(one, name)
        filled.append(Parameter(one.name, hint, one.default))
    if len(contexts) > 1:
        raise TypeError(f"{name} has several parameters of type ToolContext ({', '.join(contexts)}): keep one")
    return Signature(name, tuple(filled), contexts[0] if contexts else None)


def _parameters_of(function: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    if sys.version_info >= (3, 14):  # annotations are evaluated late, so that reading them may fail
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF).parameters
    return inspect.signature(function).parameters


def _annotations_of(function: Callable[..., object]) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.get_annotations(function, format=Format.FORWARDREF)
    return inspect.get_annotations(function)


def name_of(function: Callable[..., object]) -> str:
    """Return the name of a function, for messages."""
    return getattr(function, "__name__", type(function).__name__)


def bare(hint: Any) -> Any:
    """Return a type without the metadata of `Annotated`."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _check_is_bound(function: str, parameters: Mapping[str, inspect.Parameter]) -> None:
    """Reject a method without its object, as a decorator in the body of a class gets it."""
    first = next(iter(parameters.values()), None)
    if first is not None and first.name in ("self", "cls") and first.annotation is first.empty:
        raise TypeError(
            f"{function} is a method, and the model cannot fill {first.name}: make the tool of the bound method, as in "
            f"tool(shop.{function}), or of a function"
        )


def _check_default(parameter: inspect.Parameter, function: str) -> None:
    """Reject `count: int = Field(1, ge=1)`: the function would get the Field itself."""
    kind = type(cast("object", parameter.default))
    if kind.__name__ == "FieldInfo" and kind.__module__.startswith("pydantic"):
        raise TypeError(
            f"the default of the parameter {parameter.name} of {function} is a Field: put the Field into the type, as "
            f"in {parameter.name}: Annotated[int, Field(ge=1)] = 1"
        )


def _is_context(hint: Any, parameter: str, function: str) -> bool:
    """Return whether the hint is ToolContext, `ToolContext | None`, or one of them in `Annotated`."""
    kinds = set(_alternatives(hint))
    if ToolContext not in kinds:
        return False
    if kinds - {ToolContext, type(None)}:
        raise TypeError(f"the parameter {parameter} of {function} must be a ToolContext and nothing else")
    return True


def _alternatives(hint: Any) -> Iterator[Any]:
    kind = bare(hint)
    if get_origin(kind) in _UNIONS:
        for one in get_args(kind):
            yield from _alternatives(one)
    elif isinstance(kind, type):
        yield kind
    else:
        yield object  # no type that this module looks for


def _hints_of(function: Callable[..., object], name: str) -> dict[str, Any]:
    """Return the types of the parameters; that of the result is not needed, so it may be unknown."""
    try:
        return get_type_hints(function, include_extras=True)
    except UNREADABLE:
        annotations = _annotations_of(inspect.unwrap(function))
        annotations.pop("return", None)
        return {parameter: _hint(function, name, parameter, one) for parameter, one in annotations.items()}


def _hint(function: Callable[..., object], name: str, parameter: str, annotation: object) -> Any:
    names = getattr(inspect.unwrap(function), "__globals__", {})
    holder = types.SimpleNamespace(__annotations__={parameter: annotation})
    try:
        return get_type_hints(holder, names, include_extras=True)[parameter]
    except UNREADABLE as error:
        raise TypeError(
            f"the type of the parameter {parameter} of {name} cannot be read ({error}): import or define it at the top "
            "level of the module, before the function"
        ) from None
