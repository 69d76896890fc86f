"""How a quirky host takes a request in: counted, understood, refused, or with seals read leniently."""

from dataclasses import replace
from typing import Any

from ..families import FAMILIES, Origin
from ..http.incoming import Incoming, Message, calls_of
from ..json_values import as_objects
from .quirk import Quirk


def apply_quirk(quirk: Quirk, incoming: Incoming) -> Incoming:
    """Return the request as the host of a quirk understands it, or refuse it."""
    if quirk.request:
        incoming = quirk.request(incoming)
    refused = quirk.reject(incoming) if quirk.reject else None
    if refused:
        raise refused
    return _resealed(incoming, lenient=quirk.lenient)


def _resealed(incoming: Incoming, *, lenient: bool) -> Incoming:
    """Put the call's name into seals that name none; a lenient host takes whatever reasoning comes back for right."""
    messages = [_right(incoming, said, lenient) if calls_of(said) else said for said in incoming.messages]
    return replace(incoming, messages=tuple(messages))


def _right(incoming: Incoming, message: Message, lenient: bool) -> Message:
    family = FAMILIES[incoming.family]
    origin = Origin(incoming.plain_model, family.provider(incoming.provider_order))
    details = as_objects(message.get("reasoning_details"))
    text = _text(details)
    ids = [str(call.get("id")) for call in calls_of(message)]
    if lenient and incoming.family != "mistralai":  # Mistral's plain models take no reasoning back at all
        text = text or str(message.get("reasoning") or "I think.")
    elif not details or details != family.make_details(text, [], origin):
        return message
    return {**message, "reasoning_details": family.make_details(text, ids, origin)}


def _text(details: list[dict[str, Any]]) -> str:
    return "".join(str(detail.get("text") or detail.get("summary") or "") for detail in details)
