"""A run's question in the words of contract v1.1, which is how every run is stored, shown and replayed."""

from collections.abc import Sequence

from signalbox.core.messages import (
    AssistantMessage,
    Content,
    JsonObject,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)

# Fields that hold texts of the conversation, and those among them that a conversation stores itself, as its messages.
_TEXTS = ("messages", "prompt", "system", "finalize_hint")
_MESSAGES = ("messages", "prompt")


def without_messages(question: JsonObject) -> JsonObject:
    """Return the fields that a conversation does not store itself."""
    return {name: value for name, value in question.items() if name not in _MESSAGES}


def redacted(question: JsonObject, messages: Sequence[Message]) -> JsonObject:
    """Return a question as the trace shows it: every parameter, and of each text only its role and its length."""
    shown = {name: value for name, value in question.items() if name not in _TEXTS}
    shown["messages"] = [_outline(message) for message in messages]
    return shown


def _outline(message: Message) -> JsonObject:
    match message:
        case SystemMessage(content):
            return {"role": "system", "characters": _length(content)}
        case UserMessage(content):
            return {"role": "user", "characters": _length(content)}
        case AssistantMessage():
            return {"role": "assistant", "characters": len(message.content), "calls": [c.name for c in message.calls]}
        case ToolMessage():
            return {"role": "tool", "name": message.name, "characters": len(message.content)}


def _length(content: Content) -> int:
    if isinstance(content, str):
        return len(content)
    return sum(len(part.text) for part in content if isinstance(part, TextPart))
