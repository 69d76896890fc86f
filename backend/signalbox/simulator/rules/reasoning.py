"""Rules of reasoning that is sent back: complete, unaltered, from the same model, and not missing (section B)."""

import re
from typing import Any

from ..catalog import row_of
from ..families import FAMILIES, Origin
from ..http.incoming import Incoming, Message, calls_of
from ..json_values import as_objects
from .provider_errors import Rule, provider_error, provider_of


def details_are_unaltered(altered: str, code: str = "") -> Rule:
    """Return the rule that signed reasoning is unaltered, from this model and this provider (quirks B2 to B4)."""

    def rule(incoming: Incoming) -> None:
        origin = Origin(incoming.plain_model, provider_of(incoming))
        for at, message in enumerate(incoming.messages):
            details = as_objects(message.get("reasoning_details"))
            ids = [call["id"] for call in calls_of(message)]
            if details and details != FAMILIES[incoming.family].make_details(reasoning_in(details), ids, origin):
                raise provider_error(incoming, altered.format(at=at), code)

    return rule


def details_are_unsigned(text: str) -> Rule:
    """Return the rule that reasoning is unsigned: open models cannot read what another family signed (quirk B4)."""

    def rule(incoming: Incoming) -> None:
        for at, message in enumerate(incoming.messages):
            if any(detail.get("format") != "unknown" for detail in as_objects(message.get("reasoning_details"))):
                raise provider_error(incoming, text.format(at=at))

    return rule


def no_reasoning_for_plain_models(incoming: Incoming) -> None:
    """Mistral's models that do not reason reject reasoning in any field (quirk B4)."""
    if row_of(incoming.model).reasons:
        return
    for message in incoming.messages:
        if any(message.get(name) for name in ("reasoning", "reasoning_content", "reasoning_details")):
            raise provider_error(incoming, "Reasoning input is not enabled for this model")


def details_are_sent_back(missing: str, own_ids: str = ".*") -> Rule:
    """Return the rule that calls of the open loop have their reasoning, if the provider made their id (quirk B1)."""

    def rule(incoming: Incoming) -> None:
        if not sent_details(incoming):
            return
        for at, message in _since_the_question(incoming):
            own = any(re.fullmatch(own_ids, call["id"]) for call in calls_of(message))
            if own and not message.get("reasoning_details"):
                raise provider_error(incoming, missing.format(at=at))

    return rule


def open_turn_has_thinking(incoming: Incoming) -> None:
    """While thinking is on, Claude's open turn begins with a thinking block of any model (quirk B7).

    Anthropic merges a user message with the tool results before it, so it does not end the open turn.
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
    """Return the messages after the last user message, where the loop begins for providers other than Anthropic."""
    asked = max((at for at, message in enumerate(incoming.messages) if message["role"] == "user"), default=-1)
    return [(at, message) for at, message in enumerate(incoming.messages) if at > asked]


EXPECTED_THINKING = (
    "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` "
    "is enabled, a final `assistant` message must start with a thinking block."
)


def reasoning_is_sent_back(missing: str) -> Rule:
    """Return the rule that calls of the open tool loop have their reasoning, as text or as details (quirk B5)."""

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
    """Whether a message has reasoning; an empty `reasoning_content` is enough (obsidian-yolo#243)."""
    text = message.get("reasoning") or reasoning_in(as_objects(message.get("reasoning_details")))
    return bool(text) or isinstance(message.get("reasoning_content"), str)


def sent_details(incoming: Incoming) -> bool:
    """Return whether this loop's answers had reasoning details; Gemini's always do."""
    if incoming.family == "google":
        return True
    if incoming.reasoning == "unset":
        return FAMILIES[incoming.family].reasons_by_default
    return incoming.reasoning == "visible"
