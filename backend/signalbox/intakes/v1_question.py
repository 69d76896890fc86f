"""Converts an Ask to a request of contract v1.1, the form in which every run is stored, shown and replayed."""

from collections.abc import Sequence
from typing import Any, cast

from msgspec import to_builtins

from signalbox.core.ask import Ask, Position
from signalbox.core.handed_calls import handle_in
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
from signalbox.core.params import Choice, ForcedTool, public_choice, public_name, public_value
from signalbox.core.parts import ToolSchema
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
# Fields of a stored question that no request of contract v1.1 has.
CLIENT_TOOLS, EXTRA_PARAMS = "client_tools", "extra_params"


def question_of(ask: Ask) -> JsonObject:
    """Return an Ask of any protocol as a request of contract v1.1."""
    params = {public_name(name): _as_json(getattr(ask.params, name)) for name in ask.params.set_fields()}
    fields: dict[str, Any] = {
        "model": ask.model,
        "system": ask.system,
        "messages": [_message_json(message) for message in ask.messages] or None,
        "tools": [tool.spec.name for tool in ask.tools],
        CLIENT_TOOLS: [_schema(tool) for tool in ask.client_tools] or None,
        "tool_choice": public_choice(ask.choice),
        "finalize_hint": ask.finalize_hint or None,
        "on_disconnect": "continue" if ask.is_detached else None,
        **to_builtins(ask.limits),
        **params,
        EXTRA_PARAMS: {**ask.params.extra} or None,
    }
    return {name: value for name, value in fields.items() if value is not None} | _position_fields(ask.position)


def _schema(tool: ToolSchema) -> JsonObject:
    return {name: value for name, value in to_builtins(tool).items() if value is not None}


def client_tools_in(question: JsonObject) -> tuple[ToolSchema, ...]:
    """Return the client's tools of a stored question. They are no field of contract v1.1, whose requests have none."""
    # Not msgspec's convert, which does not know the recursive type of JSON.
    return tuple(ToolSchema(**tool) for tool in cast("list[dict[str, Any]]", question.get(CLIENT_TOOLS, [])))


def runs_named_in_question(question: JsonObject) -> list[str]:
    """Return the ids of the runs whose calls the messages of a stored question send back."""
    messages = cast("list[dict[str, Any]]", question.get("messages", []))
    ids = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    return [*dict.fromkeys(handle.run_id for call_id in ids if (handle := handle_in(call_id)))]


def choice_in(question: JsonObject) -> Choice | None:
    """Return the tool choice of a stored question, which may name a tool of the client."""
    match question.get("tool_choice"):
        case {"function": {"name": str(name)}}:
            return ForcedTool(name)
        case "auto" | "none" | "required" as choice:
            return choice
        case _:
            return None


def extra_params_in(question: JsonObject) -> JsonObject:
    """Return the parameters of a stored question that have no neutral name; they were forwarded as they are."""
    return cast("JsonObject", question.get(EXTRA_PARAMS, {}))


def as_v1_request(question: JsonObject) -> JsonObject:
    """Return a stored question as contract v1.1 accepts it.

    The client's tools are left out with the choice among them, and so are parameters without a neutral name.
    """
    left_out = {CLIENT_TOOLS, EXTRA_PARAMS, *(["tool_choice"] if CLIENT_TOOLS in question else [])}
    return {name: value for name, value in question.items() if name not in left_out}


def _as_json(value: object) -> object:
    return [*cast("tuple[str, ...]", value)] if isinstance(value, tuple) else public_value(value)


def _position_fields(position: Position | None) -> JsonObject:
    if position is None:
        return {}
    fields: JsonObject = {"conversation_id": position.conversation_id}
    if not position.follows_newest and not (position.message_ids and position.parent_id is None):
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
    if EXTRA_PARAMS in shown:  # their values may hold text, as `prediction` does
        shown[EXTRA_PARAMS] = [*extra_params_in(question)]
    if CLIENT_TOOLS in question:
        shown[CLIENT_TOOLS] = [tool.name for tool in client_tools_in(question)]
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
