"""Rebuilds an earlier run as messages: its turns, then one turn from the events after them."""

from collections.abc import Collection, Iterable, Sequence
from typing import cast

from msgspec import UNSET, to_builtins

from signalbox.chat.calls.arguments import object_in
from signalbox.core.codes import CODES, CUT_OFF, Code
from signalbox.core.events import AnyEvent, Call, Content, Stamped, ToolCalls, ToolResult
from signalbox.core.messages import AssistantMessage, ImagePart, JsonObject, Message, ToolCall, ToolMessage
from signalbox.core.tools import ToolOutcome


def recalled(turns: Sequence[tuple[int, Message]], events: Iterable[Stamped], ours: Collection[str]) -> list[Message]:
    """Return a run as history; `turns` come with the seq of the last event that each covers, `events` in order.

    A complete run needs no events, because its turns cover them. `ours` are tools whose results are trusted; all other
    results are delimited (quirk G3).
    """
    covered = max((seq for seq, _ in turns), default=0)
    since = [stamped.event for stamped in events if stamped.seq > covered]
    return [message for _, message in turns] + _turn_from_events(since, ours)


def _turn_from_events(events: Sequence[AnyEvent], ours: Collection[str]) -> list[Message]:
    """Combine the events after the last turn into one turn; a call without a result stays open."""
    text = "".join(event.content for event in events if isinstance(event, Content) and _is_own(event))
    calls = [call for event in events if isinstance(event, ToolCalls) for call in event.calls]
    results = [event for event in events if isinstance(event, ToolResult)]
    drawn = [image for event in events if isinstance(event, Content) and event.images for image in event.images]
    images = tuple(ImagePart(image.url) for image in drawn)
    answer = AssistantMessage(text.removeprefix("\n\n"), tuple(_call(call) for call in calls), images=images)
    if not (answer.calls or answer.images or answer.content.strip()):
        return []
    return [answer, *(_result(result, ours) for result in results)]


def _is_own(content: Content) -> bool:
    """Return whether the model wrote this text as an answer: neither a synthetic text nor a refusal."""
    return content.synthetic is UNSET and content.refusal is UNSET


def _call(call: Call) -> ToolCall:
    return ToolCall(call.id, call.name, object_in(call.arguments))


def _result(event: ToolResult, ours: Collection[str]) -> ToolMessage:
    """Convert a result to the message that the model received."""
    result = cast(JsonObject, to_builtins(event.result))
    if result["success"]:
        content = ToolOutcome(success=True, result=result["result"]).for_model()
        return ToolMessage(event.id, event.name, content, untrusted=event.name not in ours)
    error, code = str(result["error"]), str(result["code"])
    known = CODES.get(Code(code)) if code in CODES else None
    content = ToolOutcome(success=False, error=error, code=Code(code) if known else None).for_model()
    is_ours = event.name in ours or (known is not None and error in (known.sentence, CUT_OFF))
    return ToolMessage(event.id, event.name, content, untrusted=not is_ours, is_error=True)
