"""The JSON Schema of a function's arguments, and their conversion to the types of its parameters."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, UnsetType

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError, described
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.tools.functions.pydantic_types import PydanticType, faults, first_line, needs_pydantic
from signalbox.tools.functions.safe_schema import safe_schema
from signalbox.tools.functions.signature import UNREADABLE, Parameter, bare, read_signature


class FunctionSchema:
    """The parameters of a function as one JSON object. `descriptions` are those of the docstring, by parameter.

    Raises TypeError for a function whose parameters cannot be described.
    """

    def __init__(self, function: Callable[..., object], descriptions: Mapping[str, str]) -> None:
        signature = read_signature(function)
        self.context_name = signature.context_name
        self._nulls: list[str] = []
        self._of_pydantic: dict[str, PydanticType] = {}
        fields: list[tuple[str, Any, Any]] = []
        schemas: dict[str, JsonObject] = {}
        for one in signature.parameters:
            try:
                kind, schema = self._read(one, descriptions.get(one.name))
            except UNREADABLE as error:
                words = f"the type of the parameter {one.name} of {signature.function_name} has no JSON Schema"
                raise TypeError(f"{words}: {first_line(error)}") from None
            schemas[one.name] = schema
            if one.is_required and type(None) in get_args(bare(one.hint)):
                self._nulls.append(one.name)  # not given means None
            elif one.is_required:
                fields.append((one.name, kind, msgspec.NODEFAULT))
                continue
            fields.append((one.name, kind | UnsetType, UNSET))
        self._arguments = msgspec.defstruct("Arguments", fields, kw_only=True, forbid_unknown_fields=True)
        self.schema = _schema_of(self._arguments, schemas, signature.parameters)

    def _read(self, parameter: Parameter, description: str | None) -> tuple[Any, JsonObject]:
        """Return the type that msgspec converts to, and the schema that replaces msgspec's, if not empty."""
        hint = parameter.hint
        if needs_pydantic(hint):
            kind = self._of_pydantic[parameter.name] = PydanticType(hint)
            return Any, kind.schema(_description(hint, description))
        kind = _described_type(hint, description)
        msgspec.json.schema(kind, schema_hook=_schema_of_model)  # alone, so that an error is about this parameter
        return kind, {}

    def convert(self, arguments: JsonObject) -> dict[str, Any]:
        """Return keyword arguments of the function; raises ToolError, which names the wrong argument."""
        try:
            read = msgspec.convert(arguments, self._arguments, str_keys=True, dec_hook=_read_model)
        except msgspec.ValidationError as error:
            raise ToolError(Code.INVALID_ARGUMENTS, described(error)[1]) from None
        given = {name: getattr(read, name) for name in self._arguments.__struct_fields__}
        keywords = {name: value for name, value in given.items() if value is not UNSET}
        for name, kind in self._of_pydantic.items():
            if name in keywords:
                keywords[name] = kind.convert(keywords[name], name)
        return {**dict.fromkeys(self._nulls), **keywords}


def _schema_of(arguments: type, replaced: Mapping[str, JsonObject], parameters: tuple[Parameter, ...]) -> JsonObject:
    """Return the schema of all arguments with their defaults."""
    made = msgspec.json.schema(arguments, schema_hook=_schema_of_model)
    properties = made["$defs"][made["$ref"].rpartition("/")[2]]["properties"]
    properties.update({name: schema for name, schema in replaced.items() if schema})
    return safe_schema(made, {one.name: _as_json(one.default) for one in parameters if not one.is_required})


def _described_type(hint: Any, from_docstring: str | None) -> Any:
    """Return the type with its description: a text in `Annotated`, that of pydantic's `Field`, or the docstring's."""
    if get_origin(hint) is not Annotated:
        return Annotated[hint, Meta(description=from_docstring)] if from_docstring else hint
    kind, *metadata = get_args(hint)
    kept = [one for one in metadata if isinstance(one, Meta)]
    text = None if any(one.description for one in kept) else _description(hint, from_docstring)
    described_by = [Meta(description=text)] if text else []
    return Annotated[(kind, *kept, *described_by)] if kept or described_by else kind


def _description(hint: Any, from_docstring: str | None) -> str | None:
    """Return the first text in `Annotated`, else that of the docstring."""
    metadata: tuple[object, ...] = hint.__metadata__ if get_origin(hint) is Annotated else ()
    return next((text for one in metadata if (text := _text_in(one))), from_docstring)


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
    try:
        return safe_schema(kind.model_json_schema())
    except RuntimeError as error:  # pydantic's, for a model with an unknown type
        raise TypeError(first_line(error)) from None


def _read_model(kind: Any, value: object) -> object:
    if not hasattr(kind, "model_validate"):
        raise NotImplementedError
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise ValueError("; ".join(faults(error))) from None
