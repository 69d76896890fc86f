"""The JSON bodies of requests about API tokens and groups."""

from typing import Annotated, Any, cast

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from signalbox.app.limits.rate_windows import read_rates
from signalbox.core.security.policies import Policy
from signalbox.intakes.v1_schema import Name, Strict

_LONGEST_NAME = 200
_MOST_PATTERNS = 200
# 30 days: longer than any client needs to learn a new token.
_LONGEST_GRACE = 30 * 24 * 3600.0


def _printable(name: str) -> str:
    if not name.strip() or not name.isprintable():
        raise ValueError("must be printable characters, and not only spaces")
    return name


def _rate(words: str) -> str:
    read_rates(words)
    return words


TokenName = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST_NAME), AfterValidator(_printable)]
Budget = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Moment = Annotated[float, Field(gt=0, le=1e11, allow_inf_nan=False, description="Epoch seconds.")]
Patterns = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=256)]], Field(max_length=_MOST_PATTERNS)
]


class PolicyFields(Strict):
    """The limits of a token or a group; null is no limit."""

    budget_day: Budget | None = Field(default=None, description="USD per UTC day.")
    budget_month: Budget | None = Field(default=None, description="USD per UTC month.")
    rate_limit: Annotated[str, StringConstraints(max_length=200), AfterValidator(_rate)] | None = Field(
        default=None, description="Questions, as in SIGNALBOX_RATE_LIMIT: `60/minute; 1000/day`."
    )
    max_runs: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(default=None, description="Runs at once.")
    models: Patterns | None = Field(default=None, description="Allowed models, as patterns: `anthropic/*`.")
    tools: Patterns | None = Field(default=None, description="Allowed tools of the server, as patterns.")

    @property
    def policy(self) -> Policy:
        """The limits as a policy."""
        return Policy(**{name: _frozen(getattr(self, name)) for name in Policy.__struct_fields__})

    def changed(self, policy: Policy) -> Policy:
        """Return a policy with the given fields replaced."""
        given = self.model_fields_set & {*Policy.__struct_fields__}
        values = {name: getattr(self if name in given else policy, name) for name in Policy.__struct_fields__}
        return Policy(**{name: _frozen(value) for name, value in values.items()})


class CreateToken(PolicyFields):
    """A new API token."""

    name: TokenName = Field(description="For whom it is.")
    group: Name | None = Field(default=None, description="The group whose limits also apply.")
    expires: Moment | None = None


class UpdateToken(PolicyFields):
    """The fields of a token to change; the others stay."""

    name: TokenName | None = Field(default=None, description="A new name.")
    group: Name | None = Field(default=None, description="The group whose limits also apply; null removes it.")
    expires: Moment | None = None

    @model_validator(mode="after")
    def _something(self) -> "UpdateToken":
        if not self.model_fields_set:
            raise ValueError("names no field to change")
        if "name" in self.model_fields_set and self.name is None:
            raise ValueError("name must not be null")
        return self


class RotateToken(Strict):
    """How a token gets a new secret."""

    grace_seconds: Annotated[float, Field(ge=0, le=_LONGEST_GRACE, allow_inf_nan=False)] = Field(
        default=0.0, description="How long the former secret is still accepted."
    )


class PutGroup(PolicyFields):
    """A group: limits that apply to all its members together."""

    expires: Moment | None = None


def _frozen(value: Any) -> Any:
    return (*cast("list[str]", value),) if isinstance(value, list) else value
