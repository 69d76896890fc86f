"""The model's parameters, as keyword arguments."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import msgspec

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, described
from signalbox.core.params import FIELDS, Choice, ForcedTool, Params, Reasoning, Routing, public_name
from signalbox.runner.arguments import json_of, wrong

if TYPE_CHECKING:
    from signalbox.services.tool_executor import ToolExecutor

Kind = TypeVar("Kind")


class ModelOptions(TypedDict, total=False):
    """Parameters of the model. All parameters are optional.

    `provider` and `models` are for OpenRouter. `extra` is sent unchanged. `reasoning` can have the fields `effort`,
    `max_tokens`, `enabled` and `exclude`.
    """

    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    min_p: float | None
    top_a: float | None
    frequency_penalty: float | None
    presence_penalty: float | None
    repetition_penalty: float | None
    seed: int | None
    logit_bias: dict[str, float] | None
    parallel_tool_calls: bool | None
    response_format: dict[str, Any] | None
    stop: list[str] | None
    reasoning: dict[str, Any] | None
    provider: dict[str, Any] | None
    models: list[str] | None
    metadata: dict[str, str] | None
    modalities: list[str] | None
    extra: dict[str, Any]


# msgspec looks at a TypedDict's hints on every conversion, which takes longer than all else of a new run.
_CheckedOptions = msgspec.defstruct(
    "ModelOptions",
    [(name, kind | msgspec.UnsetType, msgspec.UNSET) for name, kind in ModelOptions.__annotations__.items()],
    kw_only=True,
)
_FIELD_OF = {**{public_name(field): field for field in FIELDS}, "extra": "extra"}


def changed_params(params: Params, options: ModelOptions) -> Params:
    """Return the parameters with these options; None unsets one. Raises RequestError, which names the option."""
    if unknown := sorted(options.keys() - ModelOptions.__annotations__.keys()):
        known = ", ".join(sorted(ModelOptions.__annotations__))
        raise RequestError(Code.INVALID_REQUEST, f"{unknown[0]}: no such option; the options are: {known}", unknown[0])
    if not options:
        return params
    read = _checked(options, _CheckedOptions)
    changes: dict[str, Any] = {}
    for name in options:
        value = json_of(name, getattr(read, name))
        changes[_FIELD_OF[name]] = _AS_PARAM.get(name, _unchanged)(value) if value is not None else None
    extra = changes.pop("extra", params.extra)
    return msgspec.structs.replace(params.changed(**changes), extra=extra)


def _checked(value: object, kind: type[Kind], field: str = "") -> Kind:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        field, words = described(error, field)
        raise RequestError(Code.INVALID_REQUEST, words, field) from None


def _unchanged(value: Any) -> Any:
    return value


def _routing(value: dict[str, Any]) -> Routing:
    return Routing(value, requires_all_params=value.get("require_parameters") is True)


def _reasoning(value: dict[str, Any]) -> Reasoning:
    return _checked(value, Reasoning, "reasoning")


_AS_PARAM: dict[str, Callable[[Any], Any]] = {
    "provider": _routing,
    "reasoning": _reasoning,
    "stop": tuple,
    "models": tuple,
    "modalities": tuple,
}


def tool_choice_of(choice: str | None, executor: "ToolExecutor") -> Choice | None:
    """Return the choice of a tool by its name; raises RequestError."""
    match choice:
        case None | "auto" | "none" | "required":
            return choice
        case str() as name if executor.spec(name) is not None:
            return ForcedTool(name)
        case other:
            raise wrong("tool_choice", "auto, none, required or the name of a tool", other)
