"""Groups messages into turns, and identifies a turn in a history that a client sends again."""

from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Literal

from signalbox.core.conversations import Role
from signalbox.core.handed_calls import handle_in
from signalbox.core.messages import (
    AssistantMessage,
    Content,
    FilePart,
    ImagePart,
    JsonValue,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.wire.json_text import dumps


def turns_in(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group consecutive messages by speaker: user and system, or assistant and tools.

    A message that hands calls to the client, and the client's results of them, are a turn each, as they are nodes.
    """
    return [
        tuple(turn) for _, turn in groupby(messages, key=lambda message: (_speaker(message), hand_over_side(message)))
    ]


def hand_over_side(message: Message) -> Literal["calls", "results"] | None:
    """Return what a message contributes to a hand-over, if anything."""
    match message:
        case AssistantMessage(calls=calls) if any(handle_in(call.id) for call in calls):
            return "calls"
        case ToolMessage(call_id=call_id) if handle_in(call_id):
            return "results"
        case _:
            return None


def role_of(turn: Sequence[Message]) -> Role:
    """Return the role of a turn."""
    return _speaker(turn[0])


def _speaker(message: Message) -> Role:
    return "assistant" if isinstance(message, AssistantMessage | ToolMessage) else "user"


def text_of(turn: Sequence[Message]) -> str:
    """Return the visible text of a turn: no instructions, calls or results."""
    texts = (text_in(m.content) for m in turn if isinstance(m, UserMessage | AssistantMessage))
    return "\n\n".join(text for text in texts if text.strip())


def text_in(content: Content) -> str:
    """Return the text of a content."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def words_of(text: str) -> str:
    """Normalize a text for comparison: no blank lines, no trailing spaces, which clients may lose."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())


def digest_of(turn: Sequence[Message]) -> str:
    """Return a hash of a turn's text, images, files, calls and results."""
    return blake2b(dumps([_comparable(message) for message in turn]), digest_size=16).hexdigest()


def _comparable(message: Message) -> JsonValue:
    match message:
        case SystemMessage(content):
            return ["system", words_of(text_in(content)), _attachments(content)]
        case UserMessage(content):
            return ["user", words_of(text_in(content)), _attachments(content)]
        case AssistantMessage(content, calls):
            turn: list[JsonValue] = ["assistant", words_of(content), [[call.name, call.arguments] for call in calls]]
            return [*turn, [image.url for image in message.images]] if message.images else turn
        case ToolMessage():
            # The name of a handed call is not in the client's result, but the id is unique.
            return ["tool", message.call_id if handle_in(message.call_id) else message.name, message.content]


def _attachments(content: Content) -> JsonValue:
    parts = () if isinstance(content, str) else content
    return [[p.url] if isinstance(p, ImagePart) else [p.filename, p.data] for p in parts if not isinstance(p, TextPart)]


def ends_openly(turn: Sequence[Message]) -> bool:
    """Return whether a model can answer after this turn: the last message is the user's or a tool's."""
    return bool(turn) and isinstance(turn[-1], UserMessage | ToolMessage)


def files_in(turn: Sequence[Message]) -> list[ImagePart | FilePart]:
    """Return the images and files that the user attached."""
    contents = (m.content for m in turn if isinstance(m, UserMessage) and not isinstance(m.content, str))
    return [part for content in contents for part in content if not isinstance(part, TextPart)]


def handed_results_in(turn: Sequence[Message]) -> list[ToolMessage]:
    """Return the results of handed calls, which come without the calls; empty for any other turn."""
    return [one for one in turn if isinstance(one, ToolMessage)] if turn and isinstance(turn[0], ToolMessage) else []
