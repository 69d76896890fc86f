"""Pairs calls and results: each message as an exchange, with one result for each call of an assistant message."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from signalbox.core.messages import (
    AssistantMessage,
    Content,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

NO_RESULT = "No result: this call was never answered."
# Providers reject a blank user turn (quirk C4), and a single space too (Bedrock: hermes-agent#41985).
NO_TEXT = "(no text)"
# Bedrock rejects a blank result, and it tells the model nothing (quirk C4: experiential#804).
NO_OUTPUT = "(no output)"


# Any message except a tool result.
Head: TypeAlias = AssistantMessage | SystemMessage | UserMessage


class Exchange(Struct, frozen=True):
    """One message, with the results of its calls in order. `own`: it belongs to this run."""

    head: Head
    results: tuple[ToolMessage, ...] = ()
    own: bool = False


def exchanges(messages: Sequence[Message], loop_start: int) -> Iterator[Exchange]:
    """Split a conversation into exchanges, repaired in both directions (quirk D1).

    Blank turns and results without a call are left out. A call without a result gets a placeholder, or the provider
    would reject the conversation.
    """
    head: Head | None = None
    results: list[ToolMessage] = []
    own = False
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            results.append(message)
            continue
        if head is not None:
            yield _exchange(head, results, own=own)
        own = place >= loop_start
        head, results = _without_blanks(message, own=own), []
    if head is not None:
        yield _exchange(head, results, own=own)


def _exchange(head: Head, results: list[ToolMessage], *, own: bool) -> Exchange:
    calls = head.calls if isinstance(head, AssistantMessage) else ()
    return Exchange(head, tuple(_results_for(calls, results)) if calls else (), own)


def _without_blanks(message: Head, *, own: bool) -> Head | None:
    """Return a message that providers accept; None for a blank turn, which would block the conversation (B14, C4).

    A turn of this run that its API paused may consist of blocks that only this API reads.
    """
    if isinstance(message, AssistantMessage):
        if own and message.native is not None:
            return message
        return message if message.calls or message.content.strip() else None
    content = _content_without_blanks(message.content)
    if not content:
        return replace(message, content=NO_TEXT) if isinstance(message, UserMessage) else None
    return message if content is message.content else replace(message, content=content)


def _content_without_blanks(content: Content) -> Content:
    """Return content without blank parts, which are rejected in any role (quirk C4)."""
    if isinstance(content, str):
        return content if content.strip() else ""
    return tuple(part for part in content if not isinstance(part, TextPart) or part.text.strip())


def _results_for(calls: Iterable[ToolCall], results: list[ToolMessage]) -> Iterator[ToolMessage]:
    """Yield the result of each call; calls with the same id are matched by position (quirk A15)."""
    left: defaultdict[str, deque[ToolMessage]] = defaultdict(deque)
    for message in results:
        left[message.call_id].append(message)
    for call in calls:
        if left[call.id]:
            found = left[call.id].popleft()
        else:
            found = ToolMessage(call_id=call.id, name=call.name, content=NO_RESULT, untrusted=False)
        yield found if found.content.strip() else replace(found, content=NO_OUTPUT, untrusted=False)
