"""What audit entries say about tokens, groups and webhooks: never a token, a secret, or the URL of a receiver."""

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec import to_builtins

from signalbox.app.access import Caller
from signalbox.app.audit.entries import entry_of
from signalbox.core.messages import JsonObject
from signalbox.core.operation.audit import Entry, differences
from signalbox.core.operation.webhooks import Receiver
from signalbox.core.security.api_tokens import Token
from signalbox.core.security.policies import Group, Policy

Row = TypeVar("Row")
OfChange = Callable[[Row, Row], Entry | None]
"""Returns the entry about a change from its values before and after, None if nothing has changed."""


def token_created(caller: Caller, token: Token) -> Entry:
    """Return the entry about a new token, with its group, expiry and limits."""
    return entry_of(caller, "token.created", {"token": token.id, **_token_fields(token)})


def token_changed(caller: Caller) -> OfChange[Token]:
    """Return what makes the entry about a changed token."""

    def entry(before: Token, after: Token) -> Entry | None:
        changed = differences(_token_fields(before), _token_fields(after))
        details: JsonObject = {"token": after.id, "name": after.name, "changed": changed}
        return entry_of(caller, "token.changed", details) if changed else None

    return entry


def token_rotated(caller: Caller, grace_seconds: float) -> OfChange[Token]:
    """Return what makes the entry about a rotated token."""
    return lambda _, after: entry_of(
        caller, "token.rotated", {"token": after.id, "name": after.name, "grace_seconds": grace_seconds}
    )


def group_put(caller: Caller, before: Group | None, after: Group) -> Entry | None:
    """Return the entry about a new or changed group, None if nothing has changed."""
    if before is None:
        return entry_of(caller, "group.created", {"group": after.name, **_group_fields(after)})
    changed = differences(_group_fields(before), _group_fields(after))
    return entry_of(caller, "group.changed", {"group": after.name, "changed": changed}) if changed else None


def webhook_created(caller: Caller, receiver: Receiver) -> Entry:
    """Return the entry about a new receiver."""
    return entry_of(caller, "webhook.created", {"webhook": receiver.id, **_webhook_fields(receiver)})


def webhook_changed(caller: Caller) -> OfChange[Receiver]:
    """Return what makes the entry about a changed receiver."""

    def entry(before: Receiver, after: Receiver) -> Entry | None:
        changed = differences(_webhook_fields(before), _webhook_fields(after))
        hidden = [name for name in ("url", "description") if getattr(before, name) != getattr(after, name)]
        if not (changed or hidden):
            return None
        details: JsonObject = {"webhook": after.id, "changed": changed}
        # A URL may contain credentials, and a description any text: the entry only says that they have changed.
        return entry_of(caller, "webhook.changed", {**details, "also_changed": [*hidden]} if hidden else details)

    return entry


def webhook_rotated(caller: Caller, grace_seconds: float) -> OfChange[Receiver]:
    """Return what makes the entry about a rotated secret."""
    return lambda _, after: entry_of(caller, "webhook.rotated", {"webhook": after.id, "grace_seconds": grace_seconds})


def _token_fields(token: Token) -> JsonObject:
    return {"name": token.name, "group": token.group, "expires": token.expires, **_limits(token.policy)}


def _group_fields(group: Group) -> JsonObject:
    return {"expires": group.expires, **_limits(group.policy)}


def _limits(policy: Policy) -> JsonObject:
    return {name: to_builtins(getattr(policy, name)) for name in Policy.__struct_fields__}


def _webhook_fields(receiver: Receiver) -> JsonObject:
    return {"host": urlsplit(receiver.url).hostname, "events": [*receiver.events], "active": receiver.active}
