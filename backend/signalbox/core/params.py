"""Request parameters in provider-neutral names; each dialect translates them to its own JSON."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from signalbox.core.messages import JsonObject, JsonValue


class ForcedTool(Struct, frozen=True):
    """The one tool that the model must call."""

    name: str


Choice: TypeAlias = Literal["auto", "none", "required"] | ForcedTool
"""Whether the model may, must or must not call tools, or which one it must call."""

StreamedArguments: TypeAlias = Literal["none", "previews", "client", "all"]
"""Which arguments are emitted while the model writes them.

`previews`: the strings that our tools name as previewed. `client`: those of the client's tools. `all`: those of all.
"""


class Reasoning(Struct, frozen=True, omit_defaults=True):
    """How much the model reasons; `exclude` leaves the reasoning out of the answer."""

    effort: str | None = None
    max_tokens: int | None = None
    summary: str | None = None
    exclude: bool | None = None
    enabled: bool | None = None


class Routing(Struct, frozen=True):
    """Which providers may serve the request.

    `preferences` are the client's, in the router's JSON. `requires_all_params` repeats one of them, because it limits
    which parameters may be added: only providers that accept every parameter. If `provider` is set, only it may serve.
    """

    preferences: Mapping[str, JsonValue] = {}
    requires_all_params: bool = False
    provider: str | None = None


# The names of these fields in the public API, its warnings and the trace of a run.
_PUBLIC_NAMES = {
    "parallel": "parallel_tool_calls",
    "format": "response_format",
    "routing": "provider",
    "fallbacks": "models",
}


class Params(Struct, frozen=True, rename=_PUBLIC_NAMES):
    """Sampling, limits, reasoning and routing; a field that is None is not sent.

    `format` is the response format as chat completions define it. `extra` are parameters without a neutral name, for
    dialects that know them. `added` names the fields that a guardrail set because the client did not, in order; a
    request writer puts them after the client's.
    """

    parallel: bool | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    top_a: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    logit_bias: Mapping[str, float] | None = None
    format: JsonObject | None = None
    stop: tuple[str, ...] | None = None
    routing: Routing | None = None
    fallbacks: tuple[str, ...] | None = None
    metadata: Mapping[str, str] | None = None
    modalities: tuple[str, ...] | None = None
    reasoning: Reasoning | None = None
    extra: Mapping[str, JsonValue] = {}
    added: tuple[str, ...] = ()

    def changed(self, **values: Any) -> "Params":
        """Return a copy with these fields set; None unsets a field."""
        unset = {name for name in values if getattr(self, name) is None}
        remaining = tuple(name for name in self.added if values.get(name, True) is not None)
        new = tuple(name for name, value in values.items() if name in unset and value is not None)
        return replace(self, **values, added=remaining + new)

    def set_fields(self) -> list[str]:
        """Return the names of the set fields: the client's in their fixed order, then the added ones."""
        given = [name for name in FIELDS if getattr(self, name) is not None and name not in self.added]
        return [*given, *self.added]


NO_PARAMS = Params()
FIELDS: tuple[str, ...] = tuple(name for name in Params.__struct_fields__ if name not in ("extra", "added"))
_NAME_OF = dict(zip(Params.__struct_fields__, Params.__struct_encode_fields__, strict=True))


def public_name(field: str) -> str:
    """Return the public API's name of a field of `Params`."""
    return _NAME_OF[field]


def public_choice(choice: Choice | None) -> JsonValue:
    """Return a tool choice as JSON of the public API."""
    if isinstance(choice, ForcedTool):
        return {"type": "function", "function": {"name": choice.name}}
    return choice


def public_value(value: object) -> object:
    """Return the value of a field as a run's trace shows it."""
    if isinstance(value, Routing):
        return value.provider or dict(value.preferences)
    return msgspec.to_builtins(value)
