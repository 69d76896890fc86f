"""Webhooks: the receivers that an operator has registered, and deliveries to them with their attempts."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from msgspec import Struct

EventKind: TypeAlias = Literal[
    "run.ended",
    "rollout.promoted",
    "rollout.finished",
    "rollout.stepped_back",
    "rollout.rolled_back",
    "rollout.regression",
]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
TEST_KIND = "webhook.test"
"""The kind of the event that `POST /api/webhooks/{id}/test` sends; no receiver can subscribe to it."""

DeliveryError: TypeAlias = Literal[
    "ADDRESS_NOT_ALLOWED", "UNREACHABLE", "TLS_FAILED", "TIMEOUT", "BROKEN_RESPONSE", "REDIRECT", "GONE", "HTTP_STATUS"
]
"""Why an attempt failed; docs/webhooks.md explains each."""
State: TypeAlias = Literal["pending", "delivered", "failed"]


@dataclass(frozen=True, slots=True)
class Receiver:
    """A registered receiver; times are epoch seconds.

    Requests are signed with `secret`, and until `former_until` with `former_secret` too, the one before the last
    rotation. `disabled` is why Signalbox made it inactive, None if it did not.
    """

    id: str
    url: str
    events: tuple[str, ...]
    secret: str
    created: float
    description: str = ""
    active: bool = True
    disabled: str | None = None
    former_secret: str | None = None
    former_until: float | None = None

    def secrets(self, now: float) -> list[str]:
        """Return the secrets to sign with: the current one first."""
        former = self.former_secret if self.former_until is not None and now < self.former_until else None
        return [self.secret, *([former] if former else [])]


class DeliveryAttempt(Struct, frozen=True):
    """One request to a receiver: when, the status of the response, why it failed, and how long it took."""

    at: float
    status: int | None = None
    error: DeliveryError | None = None
    milliseconds: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event for one receiver. `id` is sent as `webhook-id`, the same in every attempt; `body` is what is signed.

    `next_at` is when the next attempt is due, None once it is delivered or has failed.
    """

    id: str
    receiver_id: str
    kind: str
    created: float
    body: bytes
    state: State = "pending"
    attempts: tuple[DeliveryAttempt, ...] = ()
    next_at: float | None = None
    ended: float | None = None
