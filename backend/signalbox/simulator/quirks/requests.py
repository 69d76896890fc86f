"""Applies a quirk to a request: changes it, rejects it, or accepts any reasoning."""

from dataclasses import replace
from typing import Any

from ..families import FAMILIES, Origin
from ..http.incoming import Incoming, Message, calls_of
from ..json_values import as_objects
from .quirk import Quirk


def apply_quirk(quirk: Quirk, incoming: Incoming) -> Incoming:
    """Return the request as a provider with the quirk receives it; raises Rejected."""
    if quirk.request:
        incoming = quirk.request(incoming)
    rejected = quirk.reject(incoming) if quirk.reject else None
    if rejected:
        raise rejected
    return _with_valid_details(incoming, lenient=quirk.lenient)


def _with_valid_details(incoming: Incoming, *, lenient: bool) -> Incoming:
    """Sign details with call ids if they were signed without; `lenient`: replace all details with valid ones."""
    messages = [_signed(incoming, message, lenient) if calls_of(message) else message for message in incoming.messages]
    return replace(incoming, messages=tuple(messages))


def _signed(incoming: Incoming, message: Message, lenient: bool) -> Message:
    family = FAMILIES[incoming.family]
    origin = Origin(incoming.plain_model, family.provider(incoming.provider_order))
    details = as_objects(message.get("reasoning_details"))
    text = _text(details)
    ids = [str(call.get("id")) for call in calls_of(message)]
    if lenient and incoming.family != "mistralai":  # Mistral's models that do not reason accept no reasoning
        text = text or str(message.get("reasoning") or "I think.")
    elif not details or details != family.make_details(text, [], origin):
        return message
    return {**message, "reasoning_details": family.make_details(text, ids, origin)}


def _text(details: list[dict[str, Any]]) -> str:
    return "".join(str(detail.get("text") or detail.get("summary") or "") for detail in details)
