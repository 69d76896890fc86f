"""The JSON Schema of a function's arguments, and their conversion to the types of its parameters."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Meta, UnsetType

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError, described
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolContext
from signalbox.tools.functions.safe_schema import safe_schema

_MOST_ERRORS = 3


class FunctionSchema:
    """The parameters of a function as one JSON object. `descriptions` are those of the docstring, by parameter.

    Raises TypeError for a function whose parameters cannot be described.
    """

    def __init__(self, function: Callable[..., object], descriptions: Mapping[str, str]) -> None:
        hints = get_type_hints(function, include_extras=True)
        self.context_name: str | None = None
        fields: list[tuple[str, Any, Any]] = []
        defaults: dict[str, object] = {}
        self._nulls: list[str] = []
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                raise TypeError(f"the parameter {name} of {_name_of(function)} cannot be passed by name")
            hint = hints.get(name, Any)
            if hint is ToolContext:
                self.context_name = name
                continue
            kind = _described_type(hint, descriptions.get(name))
            if parameter.default is not parameter.empty:
                defaults[name] = parameter.default
            elif type(None) in get_args(_bare(hint)):
                self._nulls.append(name)  # not given means None
            else:
                fields.append((name, kind, msgspec.NODEFAULT))
                continue
            fields.append((name, kind | UnsetType, UNSET))
        self._arguments = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)
        try:
            made = msgspec.json.schema(self._arguments, schema_hook=_schema_of_model)
        except TypeError as error:
            raise TypeError(f"the parameters of {_name_of(function)} have no JSON Schema: {error}") from None
        self.schema = safe_schema(made, {name: _as_json(value) for name, value in defaults.items()})

    def convert(self, arguments: JsonObject) -> dict[str, Any]:
        """Return keyword arguments of the function; raises ToolError, which names the wrong argument."""
        try:
            read = msgspec.convert(arguments, self._arguments, dec_hook=_read_model)
        except msgspec.ValidationError as error:
            raise ToolError(Code.INVALID_ARGUMENTS, described(error)[1]) from None
        given = {name: getattr(read, name) for name in self._arguments.__struct_fields__}
        keywords = {name: value for name, value in given.items() if value is not UNSET}
        return {**dict.fromkeys(self._nulls), **keywords}


def _name_of(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _bare(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _described_type(hint: Any, from_docstring: str | None) -> Any:
    """Return the type with its description: a text in `Annotated`, that of pydantic's `Field`, or the docstring's."""
    if get_origin(hint) is not Annotated:
        return Annotated[hint, Meta(description=from_docstring)] if from_docstring else hint
    bare, *metadata = get_args(hint)
    texts = [text for one in metadata if (text := _text_in(one))]
    kept = [one for one in metadata if isinstance(one, Meta)]
    has_text = any(one.description for one in kept)
    text = None if has_text else texts[0] if texts else from_docstring
    described_by = [Meta(description=text)] if text else []
    return Annotated[(bare, *kept, *described_by)] if kept or described_by else bare


def _text_in(metadata: object) -> str | None:
    text = metadata if isinstance(metadata, str) else getattr(metadata, "description", None)
    return text if isinstance(text, str) else getattr(metadata, "documentation", None)


def _as_json(value: object) -> JsonValue | UnsetType:
    try:
        return cast("JsonValue", msgspec.to_builtins(value, str_keys=True))
    except TypeError:
        return UNSET


# --- pydantic models, which msgspec does not know; pydantic itself is not needed ---


def _schema_of_model(kind: Any) -> dict[str, Any]:
    if not hasattr(kind, "model_json_schema"):
        raise NotImplementedError
    return safe_schema(kind.model_json_schema())


def _read_model(kind: Any, value: object) -> object:
    if not hasattr(kind, "model_validate"):
        raise NotImplementedError
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise ValueError("; ".join(_model_faults(error))) from None


def _model_faults(error: Any) -> Iterator[str]:
    """Yield the first faults, without the input that pydantic's own message quotes."""
    for fault in error.errors()[:_MOST_ERRORS]:
        path = ".".join(map(str, fault["loc"]))
        yield f"{path}: {fault['msg']}" if path else str(fault["msg"])
