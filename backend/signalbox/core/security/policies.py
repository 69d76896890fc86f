"""Policies: what the runs of one API token, or of a group of tokens and users, may cost and use."""

from collections.abc import Collection
from fnmatch import fnmatchcase

from msgspec import Struct

# The group of people who sign in, unless their sign-in names another one.
PEOPLE = "users"


class Policy(Struct, frozen=True, omit_defaults=True):
    """Limits of a token or of a group; None is no limit.

    Budgets are in USD per UTC day and month. `rate_limit` has the syntax of SIGNALBOX_RATE_LIMIT, `models` and `tools`
    are patterns such as `anthropic/*`. A group's limits apply to all its members together.
    """

    budget_day: float | None = None
    budget_month: float | None = None
    rate_limit: str | None = None
    max_runs: int | None = None
    models: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None

    def allows_model(self, model: str) -> bool:
        """Return whether a pattern matches a model's id."""
        return self.models is None or matches(model, self.models)

    def allows_tool(self, name: str) -> bool:
        """Return whether a pattern matches the name of one of our tools."""
        return self.tools is None or matches(name, self.tools)


class Group(Struct, frozen=True):
    """A named policy that several tokens and users share; times are epoch seconds."""

    name: str
    created: float
    policy: Policy
    expires: float | None = None

    def is_expired(self, now: float) -> bool:
        """Return whether the group has expired, and with it the access of its members."""
        return self.expires is not None and self.expires <= now


NO_POLICY = Policy()


def matches(name: str, patterns: Collection[str]) -> bool:
    """Return whether a name matches one of the patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
