"""Converts an Ask to a request of contract v1.1, the form in which every run is stored, shown and replayed."""

from collections.abc import Sequence
from typing import Any, cast

from msgspec import to_builtins

from signalbox.core.ask import Ask, Position
from signalbox.core.messages import (
    AssistantMessage,
    Content,
    ContentPart,
    FilePart,
    ImagePart,
    JsonObject,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import public_choice, public_name, public_value
from signalbox.intakes.v1_schema import (
    AssistantIn,
    CallIn,
    ContentIn,
    FileData,
    FilePartIn,
    FunctionIn,
    ImagePartIn,
    ImageUrl,
    PartIn,
    SystemIn,
    TextPartIn,
    ToolIn,
    UserIn,
)

# Fields with text of the conversation, and those that a conversation already stores as its messages.
_TEXTS = ("messages", "prompt", "system", "finalize_hint")
_MESSAGES = ("messages", "prompt")


def question_of(ask: Ask) -> JsonObject:
    """Return an Ask of any protocol as a request of contract v1.1."""
    params = {public_name(name): _as_json(getattr(ask.params, name)) for name in ask.params.set_fields()}
    fields: dict[str, Any] = {
        "model": ask.model,
        "system": ask.system,
        "messages": [_message_json(message) for message in ask.messages] or None,
        "tools": [tool.spec.name for tool in ask.tools],
        "tool_choice": public_choice(ask.choice),
        "finalize_hint": ask.finalize_hint or None,
        "on_disconnect": "continue" if ask.is_detached else None,
        **to_builtins(ask.limits),
        **params,
    }
    return {name: value for name, value in fields.items() if value is not None} | _position_fields(ask.position)


def _as_json(value: object) -> object:
    return [*cast("tuple[str, ...]", value)] if isinstance(value, tuple) else public_value(value)


def _position_fields(position: Position | None) -> JsonObject:
    if position is None:
        return {}
    fields: JsonObject = {"conversation_id": position.conversation_id}
    if not position.follows_newest:
        fields["parent_id"] = position.parent_id
    return {**fields, "continue": True} if position.continues else fields


def _message_json(message: Message) -> JsonObject:
    return _in_schema(message).model_dump(mode="json", exclude_none=True)


def _in_schema(message: Message) -> SystemIn | UserIn | AssistantIn | ToolIn:
    match message:
        case SystemMessage(content):
            return SystemIn(role="system", content=_content(content))
        case UserMessage(content):
            return UserIn(role="user", content=_content(content))
        case ToolMessage():
            return ToolIn(role="tool", tool_call_id=message.call_id, content=message.content)
        case AssistantMessage():
            calls = [
                CallIn(id=call.id, function=FunctionIn(name=call.name, arguments=call.raw or dict(call.arguments)))
                for call in message.calls
            ]
            return AssistantIn(role="assistant", content=message.content, tool_calls=calls or None)


def _content(content: Content) -> ContentIn:
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: ContentPart) -> PartIn:
    match part:
        case TextPart(text):
            return TextPartIn(type="text", text=text)
        case ImagePart():
            image = ImageUrl.model_validate({"url": part.url, "detail": part.detail})
            return ImagePartIn(type="image_url", image_url=image)
        case FilePart():
            return FilePartIn(type="file", file=FileData(filename=part.filename, file_data=part.data))


def without_messages(question: JsonObject) -> JsonObject:
    """Return the fields that the conversation does not store as its messages."""
    return {name: value for name, value in question.items() if name not in _MESSAGES}


def redacted(question: JsonObject, messages: Sequence[Message]) -> JsonObject:
    """Return a question as the trace shows it: every parameter, but only the role and length of each message."""
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
