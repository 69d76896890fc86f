"""The history that one model may see: repaired, with valid call ids, and reasoning only for its author."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

from msgspec.structs import replace

from signalbox.chat.answer.answering_model import fallback_that_answered
from signalbox.chat.calls.ids import UNIVERSAL, make_call_id
from signalbox.chat.context import ConversationContext
from signalbox.chat.history.context_window import max_generated_images, truncated
from signalbox.chat.history.message_order import as_text, in_order, with_generated_images, without_images
from signalbox.chat.history.tool_pairing import exchanges
from signalbox.core.messages import (
    NO_REASONING,
    AssistantMessage,
    Message,
    Native,
    ReasoningDetail,
    TextPart,
    ToolCall,
    UserMessage,
)
from signalbox.core.security.untrusted import delimited_message

# Chat completions accept images only in messages of the user.
_IMAGES = "These images belong to the tool results above."


def history_for(context: ConversationContext) -> tuple[Message, ...]:
    """Return the conversation as this run's model may see it; the context does not change.

    Calls become text if the request cannot offer tools (quirk C3), or if a provider rejects them.
    """
    wire = WireIds(context)
    calls_as_text, sees_images = _writes_calls_as_text(context), context.sees_images
    out: list[Message] = []
    level = context.degradation.truncation
    most = 0 if context.degradation.no_generated_images else max_generated_images(level)
    messages = with_generated_images(context.messages, sees_images=sees_images, most=most)
    sent = truncated([*exchanges(messages, context.loop_start)], level)
    asked = max([at for at, exchange in enumerate(sent) if isinstance(exchange.head, UserMessage)], default=-1)
    for position, exchange in enumerate(sent):
        head = exchange.head
        if not isinstance(head, AssistantMessage):
            out.append(head if sees_images else without_images(head))
        elif head.calls and calls_as_text:
            out += as_text(exchange)
        else:
            own = exchange.own and _is_author(head, context)
            assistant = wire.assign(head, position, own=own)
            if head.native is not None and _is_blank(assistant):  # a paused turn of another upstream
                continue
            out.append(_without_reasoning(assistant, context) if position > asked and not own else assistant)
            pairs = zip(exchange.results, assistant.calls, strict=True)
            out += [replace(delimited_message(result), call_id=named.id, name=named.name) for result, named in pairs]
            if sees_images and (images := [image for result in exchange.results for image in result.images]):
                out.append(UserMessage((TextPart(_IMAGES), *images)))
    return in_order(out, context.profile, merge=calls_as_text)


def _writes_calls_as_text(context: ConversationContext) -> bool:
    """Whether calls are sent as text: no tools can be offered, or tools would disable the JSON mode (quirk C9)."""
    wants_json = context.base_params.format is not None and not context.profile.json_with_tools
    return context.degradation.flatten_calls or not context.takes_tools or (wants_json and not context.offered)


def author_of(context: ConversationContext, served: str | None) -> str:
    """Return which model wrote an answer: the requested one, or the fallback that answered instead."""
    requested = (context.model, context.destination.model)
    return fallback_that_answered(served, requested, context.base_params.fallbacks or ()) or context.model


def _is_blank(message: AssistantMessage) -> bool:
    return not (message.calls or message.content.strip() or message.native)


def _is_author(message: AssistantMessage, context: ConversationContext) -> bool:
    """Whether the run's model wrote a message at the run's upstream; another upstream cannot read its reasoning."""
    return message.model == context.model and message.upstream == context.destination.upstream


def _without_reasoning(message: AssistantMessage, context: ConversationContext) -> AssistantMessage:
    """Mark reasoning as absent, for providers that require the field on every step of an open loop (quirk B5)."""
    return replace(message, reasoning_field=NO_REASONING) if context.profile.echo_reasoning else message


# Faster than the cache of re.compile, which is looked up in Python.
_compiled = lru_cache(maxsize=64)(cast("Callable[[str], re.Pattern[str]]", re.compile))


class WireIds:
    """Chooses the id of each call on the wire, unique in the request."""

    def __init__(self, context: ConversationContext) -> None:
        self._legal = _compiled(context.profile.call_id)
        self._echo = context.profile.echo_reasoning
        self._destination = context.destination
        self._used: set[str] = set()
        self._minted: Counter[tuple[str, int]] = Counter()

    def assign(self, message: AssistantMessage, position: int, *, own: bool) -> AssistantMessage:
        """Return the message with wire ids; `own`: the same model wrote it in this tool loop at the same upstream."""
        calls: list[ToolCall] = []
        named: list[tuple[str, str]] = []
        sent_here = message.native if own and self._accepts(message.native) else None
        for call in message.calls:
            wire_id = self._choose(call, position, own=own, is_legal=sent_here is not None)
            if own and call.upstream_id:
                named.append((call.upstream_id, wire_id))
            calls.append(replace(call, id=wire_id, name=_legal_name(call.name)))
        if not own:
            return AssistantMessage(content=message.content, calls=tuple(calls))
        details = _rename(message.reasoning_details, named)
        # An invented name is rejected in the API's own words, too: "tool_use.name: String should match" (quirk A14).
        is_unchanged = all(upstream_id == wire_id for upstream_id, wire_id in named) and all(
            sent.name == call.name for sent, call in zip(calls, message.calls, strict=True)
        )
        native = sent_here if is_unchanged else None
        assigned = replace(message, calls=tuple(calls), reasoning_details=details, native=native)
        return assigned if self._echo and not details else replace(assigned, reasoning="", reasoning_field=None)

    def _accepts(self, native: Native | None) -> bool:
        """Return whether the run's upstream sent this turn: another one cannot read its reasoning."""
        here = self._destination
        return native is not None and native.upstream == here.upstream and here.dialect in ("", native.dialect)

    def _choose(self, call: ToolCall, position: int, *, own: bool, is_legal: bool) -> str:
        """Return the provider's id for that provider; another one if it is missing, invalid or repeated (quirk A15).

        `is_legal`: the API itself made the id, so it accepts the id, whatever the model's family requires elsewhere.
        """
        wanted = call.upstream_id if own else call.id
        pattern = self._legal if own else UNIVERSAL
        if not wanted or not (is_legal or pattern.fullmatch(wanted)) or wanted in self._used:
            wanted = call.id if UNIVERSAL.fullmatch(call.id) and call.id not in self._used else None
        seed = (call.id, position)
        while wanted is None or wanted in self._used:
            wanted = make_call_id(*seed, self._minted[seed])
            self._minted[seed] += 1  # the next call with this id continues here; from 0, n calls would make n² ids
        self._used.add(wanted)
        return wanted


# Tool names that every provider accepts (quirk C16); models invent others (`multi_tool_use.parallel`, quirk A14).
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def _legal_name(name: str) -> str:
    return _NAME.sub("_", name)[:64]


def _rename(details: tuple[ReasoningDetail, ...], named: list[tuple[str, str]]) -> tuple[ReasoningDetail, ...]:
    """Rename the calls that reasoning details refer to: Gemini's signatures name their call.

    If several details name the same repeated id, they belong to its calls in order. A step of several calls may have a
    signature for its first call only.
    """
    left: defaultdict[str, deque[str]] = defaultdict(deque)
    for upstream_id, wire_id in named:
        left[upstream_id].append(wire_id)
    return tuple(_renamed(detail, left) for detail in details)


def _renamed(detail: ReasoningDetail, left: Mapping[str, deque[str]]) -> ReasoningDetail:
    name = detail.item_id
    wire_ids = left.get(name) if isinstance(name, str) else None
    wire_id = wire_ids.popleft() if wire_ids else name
    return detail.with_id(wire_id) if isinstance(wire_id, str) and wire_id != name else detail
