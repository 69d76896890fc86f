"""What may be sent to whom: repair in both directions, ids that the host accepts, reasoning only to its maker."""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

from msgspec.structs import replace

from signalbox.chat.calls.ids import UNIVERSAL, make_call_id
from signalbox.chat.context import ConversationContext
from signalbox.chat.history.context_window import most_drawings, trimmed
from signalbox.chat.history.message_order import in_order, in_words, with_drawings, without_images
from signalbox.chat.history.tool_pairing import exchanges
from signalbox.core.messages import (
    NO_REASONING,
    AssistantMessage,
    Message,
    ReasoningDetail,
    ToolCall,
    UserMessage,
)
from signalbox.core.security.untrusted import delimited_message


def history_for(context: ConversationContext) -> tuple[Message, ...]:
    """Return the conversation as this run's model may see it; the context itself is left as it is.

    Calls are told in words where no tools can be sent beside them (quirk C3), or a host refuses them as calls.
    """
    wire = WireIds(context)
    tells, sees_images = _tells_all_calls(context), context.sees_images
    out: list[Message] = []
    level = context.degradation.truncation
    most = 0 if context.degradation.no_generated_images else most_drawings(level)
    said = with_drawings(context.messages, sees_images=sees_images, most=most)
    sent = trimmed([*exchanges(said, context.loop_start)], level)
    asked = max([at for at, exchange in enumerate(sent) if isinstance(exchange.head, UserMessage)], default=-1)
    for position, exchange in enumerate(sent):
        head = exchange.head
        if not isinstance(head, AssistantMessage):
            out.append(head if sees_images else without_images(head))
        elif head.calls and tells:
            out += in_words(exchange)
        else:
            own = exchange.own and head.model == context.model
            assistant = wire.assign(head, position, own=own)
            out.append(_without_reasoning(assistant, context) if position > asked and not own else assistant)
            pairs = zip(exchange.results, assistant.calls, strict=True)
            out += [replace(delimited_message(result), call_id=named.id, name=named.name) for result, named in pairs]
    return in_order(out, context.profile, merge=tells)


def _tells_all_calls(context: ConversationContext) -> bool:
    """Whether calls go out in words: no tools can be sent beside them, or they would take away the JSON mode (C9)."""
    wants_json = context.base_params.format is not None and not context.profile.json_with_tools
    return context.degradation.flatten_calls or not context.takes_tools or (wants_json and not context.offered)


def maker_of(context: ConversationContext, served: str | None) -> str:
    """Say whose words an answer holds: the model that was asked, or the fallback that answered in its place.

    Hosts report the model that was asked under longer names (`…-2024-08-06`), so without fallbacks it is the one.
    """
    if served is None or not context.base_params.fallbacks:
        return context.model
    return context.model if served.startswith(context.model) else served


def _without_reasoning(message: AssistantMessage, context: ConversationContext) -> AssistantMessage:
    """Say that there is no reasoning, to hosts that want the field on every step of the open loop (quirk B5)."""
    return replace(message, reasoning_field=NO_REASONING) if context.profile.echo_reasoning else message


# re.compile looks its own cache up in Python.
_compiled = lru_cache(maxsize=64)(cast("Callable[[str], re.Pattern[str]]", re.compile))


class WireIds:
    """Chooses the id that each call has on the wire, unique in the request."""

    def __init__(self, context: ConversationContext) -> None:
        self._legal = _compiled(context.profile.call_id)
        self._echo = context.profile.echo_reasoning
        self._used: set[str] = set()
        self._minted: Counter[tuple[str, int]] = Counter()

    def assign(self, message: AssistantMessage, position: int, *, own: bool) -> AssistantMessage:
        """Return the message with wire ids; `own`: the same model said it inside this tool loop."""
        calls: list[ToolCall] = []
        named: list[tuple[str, str]] = []
        for call in message.calls:
            wire_id = self._choose(call, position, own=own)
            if own and call.upstream_id:
                named.append((call.upstream_id, wire_id))
            calls.append(replace(call, id=wire_id, name=_legal_name(call.name)))
        if not own:
            return AssistantMessage(content=message.content, calls=tuple(calls))
        details = _rename(message.reasoning_details, named)
        assigned = replace(message, calls=tuple(calls), reasoning_details=details)
        return assigned if self._echo and not details else replace(assigned, reasoning="", reasoning_field=None)

    def _choose(self, call: ToolCall, position: int, *, own: bool) -> str:
        """Keep the host's own id for the host itself; ours where that is absent, illegal or repeated (quirk A15)."""
        wanted = call.upstream_id if own else call.id
        pattern = self._legal if own else UNIVERSAL
        if not wanted or not pattern.fullmatch(wanted) or wanted in self._used:
            wanted = call.id if UNIVERSAL.fullmatch(call.id) and call.id not in self._used else None
        seed = (call.id, position)
        while wanted is None or wanted in self._used:
            wanted = make_call_id(*seed, self._minted[seed])
            self._minted[seed] += 1  # the next call of this id goes on here: from 0 each, n calls would mint n² ids
        self._used.add(wanted)
        return wanted


# What every host takes as a tool's name (quirk C16); models invent others (`multi_tool_use.parallel`, quirk A14).
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def _legal_name(name: str) -> str:
    return _NAME.sub("_", name)[:64]


def _rename(details: tuple[ReasoningDetail, ...], named: list[tuple[str, str]]) -> tuple[ReasoningDetail, ...]:
    """Rename the calls that details point at: Gemini's signatures name the call they belong to.

    Of details that name the same repeated id, the first belongs to the first of its calls, and so on; a step of several
    calls may have a signature for its first call alone.
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
