"""The format of an eval set, as pydantic models."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator, model_validator

from signalbox.core.events import LoopName
from signalbox.evals.expectations import Expectations
from signalbox.intakes.v1_schema import ChatParameters, JsonObject, JsonValue, MessageIn, ShortText, Strict, Text

# Fields of a request that a set has at another place.
_ELSEWHERE = {"model": "models", "system": "system", "tools": "tools"}
PARAMETERS = frozenset(ChatParameters.model_fields) - _ELSEWHERE.keys()


def _is_id(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}", text):
        raise ValueError("must begin with a letter or digit and contain at most 80 letters, digits, _ . and -")
    return text


CaseId = Annotated[str, AfterValidator(_is_id)]
Models = Annotated[list[ShortText], Field(min_length=1, max_length=100)]
Loops = Annotated[list[LoopName], Field(min_length=1, max_length=2)]
Repeat = Annotated[int, Field(ge=1, le=1000)]
Tools = Annotated[list[ShortText], Field(max_length=128)]
Paths = Annotated[list[Text], Field(max_length=20)]


class _Asking(Strict):
    """How a question is asked; a case overrides the defaults."""

    system: str | None = None
    system_file: Text | None = None
    tools: Tools | None = None
    params: JsonObject = Field(default_factory=dict[str, JsonValue])
    expect: Expectations = Expectations()

    @field_validator("params")
    @classmethod
    def _are_parameters(cls, params: JsonObject) -> JsonObject:
        for name in params:
            if name in _ELSEWHERE:
                raise ValueError(f"cannot contain {name}; set {_ELSEWHERE[name]} outside of params")
            if name not in PARAMETERS:
                raise ValueError(f"there is no parameter {name[:60]!r}; docs/api.md lists the parameters")
        return params

    @model_validator(mode="after")
    def _one_system(self) -> "_Asking":
        if self.system is not None and self.system_file is not None:
            raise ValueError("takes system or system_file, not both")
        return self


class Defaults(_Asking):
    """What holds for each case that does not set it."""


class Case(_Asking):
    """One question and what is expected of the answer. Paths are relative to the folder of the set."""

    id: CaseId
    description: str | None = None
    prompt: Text | None = None
    prompt_file: Text | None = None
    messages: Annotated[list[MessageIn], Field(min_length=1)] | None = None
    images: Paths = Field(default_factory=list[str])
    files: Paths = Field(default_factory=list[str])
    conversation: bool = False
    models: Models | None = None
    loops: Loops | None = None
    repeat: Repeat | None = None

    @model_validator(mode="after")
    def _one_question(self) -> "Case":
        given = [name for name in ("prompt", "prompt_file", "messages") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"needs one of prompt, prompt_file and messages, but has {', '.join(given) or 'none'}")
        return self


class EvalSet(Strict):
    """A whole set. `max_cost` is in USD for all runs together, `timeout` in seconds for one attempt."""

    name: Text | None = None
    models: Models
    loops: Loops | None = None
    repeat: Repeat = 1
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    max_cost: Annotated[float, Field(gt=0)] | None = None
    timeout: Annotated[float, Field(gt=0, le=3600)] = 300
    defaults: Defaults = Defaults()
    cases: Annotated[list[Case], Field(min_length=1, max_length=10_000)]

    @field_validator("cases")
    @classmethod
    def _ids_are_unique(cls, cases: list[Case]) -> list[Case]:
        seen: set[str] = set()
        for case in cases:
            if case.id in seen:
                raise ValueError(f"two cases have the id {case.id!r}; give each its own id")
            seen.add(case.id)
        return cases
