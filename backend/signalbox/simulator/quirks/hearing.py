"""How a quirky host takes a request in: counted, understood, refused, or with seals read leniently."""

from dataclasses import replace
from typing import Any

from ..accents import ACCENTS, Maker
from ..http.incoming import Incoming, Message, calls_of
from ..shapes import as_objects
from .quirk import Quirk


def understood(quirk: Quirk, incoming: Incoming) -> Incoming:
    """Return the request as the host of a quirk understands it, or refuse it."""
    if quirk.hear:
        incoming = quirk.hear(incoming)
    refused = quirk.refuse(incoming) if quirk.refuse else None
    if refused:
        raise refused
    return _resealed(incoming, lenient=quirk.lenient)


def _resealed(incoming: Incoming, *, lenient: bool) -> Incoming:
    """Put the call's name into seals that name none; a lenient host takes whatever reasoning comes back for right."""
    messages = [_right(incoming, said, lenient) if calls_of(said) else said for said in incoming.messages]
    return replace(incoming, messages=tuple(messages))


def _right(incoming: Incoming, message: Message, lenient: bool) -> Message:
    accent = ACCENTS[incoming.family]
    maker = Maker(incoming.plain_model, accent.provider(incoming.provider_order))
    details = as_objects(message.get("reasoning_details"))
    text = _text(details)
    ids = [str(call.get("id")) for call in calls_of(message)]
    if lenient and incoming.family != "mistralai":  # Mistral's plain models take no reasoning back at all
        text = text or str(message.get("reasoning") or "I think.")
    elif not details or details != accent.make_details(text, [], maker):
        return message
    return {**message, "reasoning_details": accent.make_details(text, ids, maker)}


def _text(details: list[dict[str, Any]]) -> str:
    return "".join(str(detail.get("text") or detail.get("summary") or "") for detail in details)
