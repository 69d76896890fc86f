"""The audit log: its actions, and who acts."""

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from signalbox.core.messages import JsonObject

RolloutAction: TypeAlias = Literal[
    "flag.set",
    "rollout.started",
    "rollout.promoted",
    "rollout.finished",
    "rollout.stepped_back",
    "rollout.regression",
    "rollout.rolled_back",
    "rollout.overridden",
    "rollout.ended",
]
Action: TypeAlias = Literal[
    RolloutAction,
    "token.created",
    "token.changed",
    "token.rotated",
    "token.revoked",
    "group.created",
    "group.changed",
    "group.deleted",
    "webhook.created",
    "webhook.changed",
    "webhook.rotated",
    "webhook.deleted",
    "upstreams.reloaded",
    "session.ended",
]
# Those that GET /api/rollout/audit returns.
OF_THE_ROLLOUT: tuple[RolloutAction, ...] = get_args(RolloutAction)


class Actor(Struct, frozen=True):
    """Who acts. `id` is the owner of a person who signs in, since several people can have the same name."""

    name: str
    id: str = ""


OPERATOR = Actor("operator")
GUARD = Actor("guard")
SIGNAL = Actor("SIGHUP")
COMMAND = Actor("command line")
_RESERVED = frozenset(one.name.casefold() for one in (OPERATOR, GUARD, SIGNAL, COMMAND))


def person(owner: str, name: str) -> Actor:
    """Return a person who signs in; no name can pass for the operator token or a part of Signalbox."""
    return Actor(owner if not name.strip() or name.strip().casefold() in _RESERVED else name, owner)


class Entry(Struct, frozen=True):
    """A change. `at` is in epoch seconds; `details` never contain a token, a secret or a key."""

    at: float
    actor: str
    action: str
    details: JsonObject = {}


def entry_by(actor: Actor, at: float, action: Action, details: JsonObject) -> Entry:
    """Return an entry about a change by this actor."""
    return Entry(at, actor.name, action, {**details, "actor_id": actor.id} if actor.id else details)


def differences(before: JsonObject, after: JsonObject) -> JsonObject:
    """Return the fields whose values differ, each with its value before and after."""
    return {name: {"from": before.get(name), "to": after[name]} for name in after if before.get(name) != after[name]}
