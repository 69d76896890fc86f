"""The JSON of responses about webhooks, as types."""

from typing import Annotated, TypedDict

from msgspec import Meta

from signalbox.core.operation.webhooks import DeliveryError, State
from signalbox.runs.trace import EpochSeconds


class Webhook(TypedDict):
    """A receiver of events, without its secret."""

    id: str
    url: str
    events: Annotated[list[str], Meta(description="The kinds of events that it receives.")]
    description: str
    active: bool
    disabled: Annotated[str | None, Meta(description="Why Signalbox made it inactive: GONE after status 410.")]
    created: EpochSeconds
    former_until: Annotated[
        EpochSeconds | None, Meta(description="Until when requests are also signed with the secret before a rotation.")
    ]


class WebhookSecret(Webhook):
    """A receiver with its secret, which no other response contains."""

    secret: Annotated[str, Meta(description="`whsec_` and the key in Base64.")]


class WebhookList(TypedDict):
    """All receivers, oldest first."""

    webhooks: list[Webhook]


class WebhookAttempt(TypedDict):
    """One request to a receiver."""

    at: EpochSeconds
    status: Annotated[int | None, Meta(description="The HTTP status, null without a response.")]
    error: Annotated[DeliveryError | None, Meta(description="Why it failed, null if it did not.")]
    milliseconds: int


class WebhookDelivery(TypedDict):
    """An event for one receiver, with all attempts to deliver it."""

    id: Annotated[str, Meta(description="The header `webhook-id`, the same in every attempt.")]
    kind: str
    state: State
    created: EpochSeconds
    ended: EpochSeconds | None
    next_attempt: Annotated[EpochSeconds | None, Meta(description="When the next attempt is due.")]
    attempts: list[WebhookAttempt]


class WebhookDeliveries(TypedDict):
    """Deliveries to a receiver, newest first."""

    deliveries: list[WebhookDelivery]
    next: Annotated[str | None, Meta(description="Pass it as `before` to get the next page; null on the last one.")]
