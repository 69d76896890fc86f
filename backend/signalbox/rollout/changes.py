"""What is written with a change of the plan, in one transaction: entries of the audit log and events for webhooks."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, structs

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.operation.audit import Action, Actor, Entry, entry_by
from signalbox.core.operation.webhooks import EventKind
from signalbox.rollout.plan import Plan
from signalbox.store.database import Work

# The entry or the event has the reason and the time already.
_REPEATED = frozenset({"assessment", "at"})


class Event(Struct, frozen=True):
    """An event for webhooks."""

    kind: EventKind
    payload: JsonObject


class Change(Struct, frozen=True):
    """A plan to store, None to keep the old one; entries and events are written in any case."""

    plan: Plan | None = None
    entries: Sequence[Entry] = ()
    events: Sequence[Event] = ()


class Outbox(Protocol):
    """Where events for webhooks are queued."""

    def enqueuing(self, kind: EventKind, payload: JsonObject) -> Work[object]:
        """Return a function that queues an event in the transaction in which it is called."""
        ...

    def wake(self) -> None:
        """Send what has been queued."""
        ...


class NoOutbox:
    """Drops all events."""

    def enqueuing(self, kind: EventKind, payload: JsonObject) -> Work[object]:
        """Queue nothing."""
        return lambda _: None

    def wake(self) -> None:
        """Send nothing."""


def details_of(plan: Plan, reason: str = "", report: JsonObject | None = None) -> JsonObject:
    """Return what an audit entry or an event says: the stage, the reason and the figures."""
    details: JsonObject = {"plan": plan.id, "mode": plan.mode, "stage": plan.stage + 1, "percent": plan.percent}
    if reason:
        details["reason"] = reason
    return {**details, **{name: value for name, value in (report or {}).items() if name not in _REPEATED}}


def entry_about(
    plan: Plan, at: float, who: tuple[Actor, Action], reason: str = "", report: JsonObject | None = None
) -> Entry:
    """Return an audit entry about a plan; `who` is the actor and the action."""
    actor, action = who
    return entry_by(actor, at, action, details_of(plan, reason, report))


def started_by(actor: Actor, at: float, plan: Plan) -> Entry:
    """Return the audit entry about the start of a plan, with all its stages."""
    stages: list[JsonValue] = [structs.asdict(one) for one in plan.stages]
    details: JsonObject = {**details_of(plan), "stages": stages, "holdback": plan.holdback}
    return entry_by(actor, at, "rollout.started", details)
