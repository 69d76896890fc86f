"""A conversation as exchanges: every message, and behind an assistant's calls one result for each of them."""

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

NO_RESULT = "No result: the run ended before this tool had answered."
# Hosts refuse a blank user turn (quirk C4), and a space in its place as well (Bedrock: hermes-agent#41985).
NO_TEXT = "(no text)"
# A blank result is refused on Bedrock, and says nothing to the model (quirk C4: experiential#804).
NO_OUTPUT = "(no output)"


# What is said; a result belongs to the calls that it answers.
Head: TypeAlias = AssistantMessage | SystemMessage | UserMessage


class Exchange(Struct, frozen=True):
    """One message; an assistant's with the results of its calls, in their order. `own`: said in this run."""

    head: Head
    results: tuple[ToolMessage, ...] = ()
    own: bool = False


def exchanges(messages: Sequence[Message], loop_start: int) -> Iterator[Exchange]:
    """Put a conversation into exchanges, repaired in both directions (quirk D1).

    Blank turns and results of no call are left out; a call without a result is answered, or the host would refuse the
    whole chat.
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
        head, results, own = _sayable(message), [], place >= loop_start
    if head is not None:
        yield _exchange(head, results, own=own)


def _exchange(head: Head, results: list[ToolMessage], *, own: bool) -> Exchange:
    calls = head.calls if isinstance(head, AssistantMessage) else ()
    return Exchange(head, tuple(_results_for(calls, results)) if calls else (), own)


def _sayable(message: Head) -> Head | None:
    """Return a message as hosts take it; None for a turn that says nothing: it would wedge the chat (B14, C4)."""
    if isinstance(message, AssistantMessage):
        return message if message.calls or message.content.strip() else None
    said = _said(message.content)
    if not said:
        return replace(message, content=NO_TEXT) if isinstance(message, UserMessage) else None
    return message if said is message.content else replace(message, content=said)


def _said(content: Content) -> Content:
    """Return content without blank parts, which are a 400 in any role (quirk C4)."""
    if isinstance(content, str):
        return content if content.strip() else ""
    return tuple(part for part in content if not isinstance(part, TextPart) or part.text.strip())


def _results_for(calls: Iterable[ToolCall], results: list[ToolMessage]) -> Iterator[ToolMessage]:
    """Find the result of each call, by position where calls share an id (quirk A15)."""
    left: defaultdict[str, deque[ToolMessage]] = defaultdict(deque)
    for message in results:
        left[message.call_id].append(message)
    for call in calls:
        if left[call.id]:
            found = left[call.id].popleft()
        else:
            found = ToolMessage(call_id=call.id, name=call.name, content=NO_RESULT, outside=False)
        yield found if found.content.strip() else replace(found, content=NO_OUTPUT, outside=False)
