"""The JSON of responses about API tokens and groups, as types."""

from typing import Annotated, TypedDict

from msgspec import Meta

from signalbox.runs.trace import EpochSeconds


class PolicyLimits(TypedDict):
    """Limits of a token or a group; null is no limit."""

    budget_day: Annotated[float | None, Meta(description="USD per UTC day.")]
    budget_month: Annotated[float | None, Meta(description="USD per UTC month.")]
    rate_limit: Annotated[str | None, Meta(description="Questions, as in SIGNALBOX_RATE_LIMIT.")]
    max_runs: Annotated[int | None, Meta(description="Runs at once.")]
    models: Annotated[list[str] | None, Meta(description="Allowed models, as patterns.")]
    tools: Annotated[list[str] | None, Meta(description="Allowed tools of the server, as patterns.")]


class ApiToken(PolicyLimits):
    """An API token, without its secret."""

    id: Annotated[str, Meta(description="The owner of everything that is created with the token.")]
    name: str
    group: Annotated[str | None, Meta(description="The group whose limits also apply.")]
    created: EpochSeconds
    expires: EpochSeconds | None
    revoked: EpochSeconds | None
    former_until: Annotated[
        EpochSeconds | None, Meta(description="Until when the secret before the last rotation is accepted.")
    ]
    last_used_at: Annotated[
        EpochSeconds | None, Meta(description="The last request with the token, up to a minute late; null if unused.")
    ]


class ApiTokenSecret(ApiToken):
    """An API token with its text, which no other response contains."""

    token: Annotated[str, Meta(description="The text to send as `Authorization: Bearer TEXT`.")]


class ApiTokenList(TypedDict):
    """All API tokens, oldest first, with expired and revoked ones."""

    tokens: list[ApiToken]


class TokenGroup(PolicyLimits):
    """A group; its limits apply to all its members together."""

    name: str
    created: EpochSeconds
    expires: EpochSeconds | None


class TokenGroupList(TypedDict):
    """All groups by name."""

    groups: list[TokenGroup]
