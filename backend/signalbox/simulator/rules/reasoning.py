"""Reasoning on its way back: whole, unaltered, from the model that made it, and there where it must be (section B)."""

import re
from typing import Any

from ..catalog import row_of
from ..families import FAMILIES, Origin
from ..http.incoming import Incoming, Message, calls_of
from ..json_values import as_objects
from .provider_errors import Rule, provider_error, provider_of


def details_are_unaltered(altered: str, code: str = "") -> Rule:
    """Sealed reasoning is taken only as this model sent it, on this host: anywhere in the request (quirks B2 to B4)."""

    def rule(incoming: Incoming) -> None:
        origin = Origin(incoming.plain_model, provider_of(incoming))
        for at, message in enumerate(incoming.messages):
            details = as_objects(message.get("reasoning_details"))
            ids = [call["id"] for call in calls_of(message)]
            if details and details != FAMILIES[incoming.family].make_details(reasoning_in(details), ids, origin):
                raise provider_error(incoming, altered.format(at=at), code)

    return rule


def details_are_unsigned(said: str) -> Rule:
    """Hosts of open models take reasoning as text; what another family sealed they cannot read (quirk B4)."""

    def rule(incoming: Incoming) -> None:
        for at, message in enumerate(incoming.messages):
            if any(detail.get("format") != "unknown" for detail in as_objects(message.get("reasoning_details"))):
                raise provider_error(incoming, said.format(at=at))

    return rule


def no_reasoning_for_plain_models(incoming: Incoming) -> None:
    """Mistral's plain models take no reasoning back, in whatever field (quirk B4)."""
    if row_of(incoming.model).reasons:
        return
    for message in incoming.messages:
        if any(message.get(name) for name in ("reasoning", "reasoning_content", "reasoning_details")):
            raise provider_error(incoming, "Reasoning input is not enabled for this model")


def details_are_sent_back(missing: str, own_ids: str = ".*") -> Rule:
    """Sealed reasoning of the open tool loop comes back with the calls that the host minted an id for (quirk B1)."""

    def rule(incoming: Incoming) -> None:
        if not sent_details(incoming):
            return
        for at, message in _since_the_question(incoming):
            own = any(re.fullmatch(own_ids, call["id"]) for call in calls_of(message))
            if own and not message.get("reasoning_details"):
                raise provider_error(incoming, missing.format(at=at))

    return rule


def open_turn_has_thinking(incoming: Incoming) -> None:
    """With thinking on, Claude's last turn begins with a thinking block of any model (quirk B7).

    A user's words behind tool results are one turn with them on Anthropic's wire, so they do not close the loop.
    """
    if not sent_details(incoming):
        return
    for at in range(len(incoming.messages) - 1, -1, -1):
        message, before = incoming.messages[at], incoming.messages[at - 1] if at else {}
        if message["role"] == "assistant" and before.get("role") == "user":
            if calls_of(message) and not message.get("reasoning_details"):
                raise provider_error(incoming, EXPECTED_THINKING.format(at=at))
            return
        if message["role"] == "user" and before.get("role") != "tool":
            return


def _since_the_question(incoming: Incoming) -> list[tuple[int, Message]]:
    """Return the messages behind the last user message: every other host takes that for the beginning of the loop."""
    asked = max((at for at, message in enumerate(incoming.messages) if message["role"] == "user"), default=-1)
    return [(at, message) for at, message in enumerate(incoming.messages) if at > asked]


EXPECTED_THINKING = (
    "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` "
    "is enabled, a final `assistant` message must start with a thinking block."
)


def reasoning_is_sent_back(missing: str) -> Rule:
    """DeepSeek and Kimi want the reasoning of the open tool loop back, as text or as details (quirk B5)."""

    def rule(incoming: Incoming) -> None:
        if not sent_details(incoming) or not row_of(incoming.model).reasons:
            return
        for at, message in _since_the_question(incoming):
            if calls_of(message) and not _has_reasoning(message):
                raise provider_error(incoming, missing.format(at=at))

    return rule


def reasoning_in(details: list[dict[str, Any]]) -> str:
    """Return the readable text of details."""
    return "".join(str(detail.get("text") or detail.get("summary") or "") for detail in details)


def _has_reasoning(message: Message) -> bool:
    """Look for the text; natively an empty `reasoning_content` is enough (obsidian-yolo#243)."""
    told = message.get("reasoning") or reasoning_in(as_objects(message.get("reasoning_details")))
    return bool(told) or isinstance(message.get("reasoning_content"), str)


def sent_details(incoming: Incoming) -> bool:
    """Return whether the answers of this loop carried details; Gemini's always do."""
    if incoming.family == "google":
        return True
    if incoming.reasoning == "unset":
        return FAMILIES[incoming.family].reasons_by_default
    return incoming.reasoning == "visible"
