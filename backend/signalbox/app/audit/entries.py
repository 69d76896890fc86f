"""Audit entries about changes over HTTP."""

from time import time

from signalbox.app.access import Caller
from signalbox.core.messages import JsonObject
from signalbox.core.operation.audit import OPERATOR, Action, Actor, Entry, entry_by, person


def actor_of(caller: Caller) -> Actor:
    """Return who acts: the operator token, or a person who is signed in."""
    return person(caller.owner, caller.name) if caller.owner else OPERATOR


def entry_of(caller: Caller, action: Action, details: JsonObject) -> Entry:
    """Return an entry about a change of this caller, now."""
    return entry_by(actor_of(caller), time(), action, details)
