"""Validates a JSON body with a pydantic model; a rejection names the invalid field."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject, JsonValue

Model = TypeVar("Model", bound=BaseModel)

# Stands for a missing field; no value of a body equals it.
_NONE = "\0"
# Above this number only the count is reported, because pydantic describes every error to name one field.
_MOST_FAULTS = 500
# Unknown fields that an error message names, and the characters of each name.
_MOST_NAMED, _LONGEST_NAME = 10, 200


def validated(value: JsonValue, model: type[Model]) -> Model:
    """Return a body as a model; raises RequestError naming the invalid field."""
    if not isinstance(value, dict):
        raise RequestError(Code.INVALID_REQUEST, "The request body must be a JSON object.", "body")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise fault_in(error, value) from None


def validated_at(value: JsonValue, model: type[Model], *path: str | int) -> Model:
    """Return a value at a path of the body as a model; raises RequestError naming the invalid field of the body."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults: list[Mapping[str, Any]] = [{**one, "loc": (*path, *one["loc"])} for one in error.errors()]
        raise first_fault(faults, _nested(value, path)) from None


def _nested(value: JsonValue, path: Sequence[str | int]) -> JsonValue:
    """Return a body that has only this value at the path."""
    for part in reversed(path):
        value = {part: value} if isinstance(part, str) else [*([{}] * part), value]
    return value


def fault_in(error: ValidationError, body: JsonObject, *, skipped: int = 0) -> RequestError:
    """Return an error that names the invalid field of a body.

    The first `skipped` messages of the body were not validated.
    """
    if error.error_count() > _MOST_FAULTS:
        return RequestError(Code.INVALID_REQUEST, f"{error.error_count():,} fields or values are not valid.", "body")
    faults: list[Mapping[str, Any]] = [*error.errors()]
    if skipped:
        faults = [{**one, "loc": (one["loc"][0], one["loc"][1] + skipped, *one["loc"][2:])} for one in faults]
    return first_fault(faults, body)


def first_fault(faults: Sequence[Mapping[str, Any]], body: JsonValue = None) -> RequestError:
    """Return an error that names the field of pydantic's first error, or all fields that do not exist.

    `body` is what was validated: pydantic mixes the names of union members into its paths, and only the value itself
    distinguishes a member's name (`text`, `user`) from a field's.
    """
    unknown = [_path(one, body) for one in faults if one["type"] == "extra_forbidden"]
    if unknown:
        named = [name[:_LONGEST_NAME] for name in unknown[:_MOST_NAMED]]
        names = ", ".join(named) + (f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else "")
        return RequestError(Code.UNKNOWN_FIELD, f"The request has fields that do not exist: {names}.", named[0])
    first = _path(faults[0], body)
    # A union reports one error per member; the deepest one belongs to the member that was meant.
    here = [(_path(one, body), one) for one in faults if _path(one, body).startswith(first)]
    field, fault = max(here, key=lambda item: item[0].count("."))
    return RequestError(Code.INVALID_REQUEST, f"{field or 'The request'}: {reason_of(fault)}.", field or None)


def reason_of(fault: Mapping[str, Any]) -> str:
    """Return what is wrong, as a clause without pydantic's words for Python types."""
    limits: Mapping[str, Any] = fault.get("ctx", {})
    match fault["type"]:
        case "too_long":
            return f"at most {limits['max_length']} values are allowed"
        case "too_short":
            return "at least one value is needed" if limits["min_length"] == 1 else _at_least(limits["min_length"])
        case _:
            return str(fault["msg"]).removeprefix("Value error, ")


def _at_least(number: int) -> str:
    return f"at least {number} values are needed"


def _path(fault: Mapping[str, Any], body: JsonValue) -> str:
    """Return the location of an error as a dotted path into the body."""
    if not isinstance(body, dict):
        return ".".join(str(part) for part in fault["loc"][1:])  # FastAPI's own: ("query", "limit")
    names: list[str] = []
    here: JsonValue = body
    may_be_tag = True
    for place, part in enumerate(fault["loc"]):
        is_last = place == len(fault["loc"]) - 1
        fields: JsonObject = here if isinstance(here, dict) else {}
        if may_be_tag and part in (fields.get("role", _NONE), fields.get("type", _NONE)):
            may_be_tag = False
        elif isinstance(part, int) and isinstance(here, list):
            names.append(str(part))
            here, may_be_tag = cast(list[JsonValue], here)[part], True
        elif part in fields or (isinstance(here, dict) and is_last and fault["type"] == "missing"):
            names.append(str(part))
            here, may_be_tag = fields.get(str(part)), False
    return ".".join(names)
