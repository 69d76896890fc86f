"""What an eval set expects of an answer, as pydantic models."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from signalbox.core.events import Status
from signalbox.intakes.v1_schema import JsonObject, ShortText, Strict, Text


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"is not a regular expression ({error})") from None
    return pattern


# One text or a list of texts.
Texts = Annotated[list[Text], Field(max_length=100), BeforeValidator(_listed)]
Patterns = Annotated[
    list[Annotated[Text, Field(max_length=1000), AfterValidator(_compiles)]],
    Field(max_length=100),
    BeforeValidator(_listed),
]
Names = Annotated[list[ShortText], Field(max_length=100), BeforeValidator(_listed)]
FewCalls = Annotated[list[ShortText], Field(max_length=100)]


class ExpectedArguments(Strict):
    """At least one call of `tool` has such arguments.

    `contain`: text that is part of the argument, and other values that are equal to it. `equal`: exactly these.
    """

    tool: ShortText
    contain: JsonObject | None = None
    equal: JsonObject | None = None

    @model_validator(mode="after")
    def _one(self) -> "ExpectedArguments":
        if (self.contain is None) == (self.equal is None):
            raise ValueError("takes contain or equal")
        return self


class ExpectedTools(Strict):
    """Which tools the model calls. `exactly` counts the calls in any order; `order` allows other calls in between."""

    called: Names = Field(default_factory=list[str])
    not_called: Names = Field(default_factory=list[str])
    only: FewCalls | None = None
    exactly: FewCalls | None = None
    order: FewCalls | None = None
    arguments: Annotated[list[ExpectedArguments], Field(max_length=100)] = Field(
        default_factory=list[ExpectedArguments]
    )
    all_succeed: Literal[True] | None = None


class ExpectedFile(Strict):
    """A file of the conversation after the run."""

    path: Annotated[Text, Field(max_length=200)]
    exists: bool = True
    contains: Texts = Field(default_factory=list[str])
    not_contains: Texts = Field(default_factory=list[str])
    matches: Patterns = Field(default_factory=list[str])

    @model_validator(mode="after")
    def _has_content(self) -> "ExpectedFile":
        if not self.exists and (self.contains or self.not_contains or self.matches):
            raise ValueError("a file that must not exist has no content to check; remove exists, or the other fields")
        return self


class Expectations(Strict):
    """Every field that is set is a check. Without `status`, the run must end with the status `complete`."""

    contains: Texts = Field(default_factory=list[str])
    not_contains: Texts = Field(default_factory=list[str])
    matches: Patterns = Field(default_factory=list[str])
    equals: str | None = None
    json_schema: JsonObject | None = None
    tools: ExpectedTools | None = None
    files: Annotated[list[ExpectedFile], Field(max_length=100)] = Field(default_factory=list[ExpectedFile])
    status: Status = "complete"
    code: ShortText | None = None
    steps: Annotated[int, Field(ge=0)] | None = None
    max_steps: Annotated[int, Field(ge=0)] | None = None
    max_cost: Annotated[float, Field(ge=0)] | None = None
    max_seconds: Annotated[float, Field(gt=0)] | None = None
    warnings: Names = Field(default_factory=list[str])
    no_warnings: bool | Names = False

    def over(self, defaults: "Expectations") -> "Expectations":
        """Return these expectations, with the defaults for the fields that are not set."""
        return defaults.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})
