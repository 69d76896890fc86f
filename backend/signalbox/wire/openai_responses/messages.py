"""Writes messages as input items."""

from collections.abc import Iterable, Iterator

from signalbox.core.messages import (
    AssistantMessage,
    Content,
    ContentPart,
    FilePart,
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.wire.json_text import dumps
from signalbox.wire.openai_responses.decoder import NAME

# Items that need no id.
_WITHOUT_ID = ("message", "function_call")


def items_of(messages: Iterable[Message]) -> list[JsonObject]:
    """Return the input items of a conversation.

    System messages are items, not `instructions`: they keep their place, and a request is a prefix of the next one.
    """
    return [item for message in messages for item in _items(message)]


def _items(message: Message) -> Iterator[JsonObject]:
    match message:
        case SystemMessage(content):
            yield {"role": "system", "content": _content(content)}
        case UserMessage(content):
            yield {"role": "user", "content": _content(content)}
        case ToolMessage(call_id, _, content):
            yield {"type": "function_call_output", "call_id": call_id, "output": content or "(no output)"}
        case AssistantMessage():
            yield from _turn(message)


def _turn(message: AssistantMessage) -> Iterator[JsonObject]:
    """Write a model's turn: its own items unchanged, or its text and calls without reasoning."""
    native = message.native
    if native is not None and native.dialect == NAME:
        yield from _own(native.items)
        return
    if message.content.strip():
        yield {"role": "assistant", "content": message.content}
    for call in message.calls:
        yield _call(call)


def _own(items: tuple[JsonObject, ...]) -> Iterator[JsonObject]:
    """Write the items of a turn unchanged, except blank arguments, and if the upstream cannot read its reasoning.

    Without the reasoning, an id would refer to it: "provided without its required 'reasoning' item". Messages and calls
    are accepted without an id (recorded: azure-gpt-5-mini-thinking-streaming).
    """
    readable = [_with_arguments(item) for item in items if _is_readable(item)]
    if len(readable) == len(items):
        yield from readable
        return
    for item in readable:
        yield {name: value for name, value in item.items() if name != "id"} if item.get("type") in _WITHOUT_ID else item


def _with_arguments(item: JsonObject) -> JsonObject:
    """Return a call with `{}` for blank arguments: as a text that is not JSON, they are rejected (quirks A8, A9)."""
    is_blank = item.get("type") == "function_call" and item.get("arguments") == ""
    return {**item, "arguments": "{}"} if is_blank else item


def _is_readable(item: JsonObject) -> bool:
    """Return whether the upstream can read an item that it does not store.

    A reasoning item that has only an id is looked up, and the request rejected: "Items are not persisted when `store`
    is set to false" (anomalyco/opencode#7724). Servers without encryption have the text of the reasoning in `content`.
    """
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _call(call: ToolCall) -> JsonObject:
    arguments = dumps(call.arguments).decode()
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def _content(content: Content) -> JsonValue:
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            return {"type": "input_text", "text": text}
        case ImagePart(url, detail):
            image: JsonObject = {"type": "input_image", "image_url": url}
            if detail:
                image["detail"] = detail
            return image
        case FilePart(filename, data):
            if data[:5].lower() == "data:":
                return {"type": "input_file", "filename": filename, "file_data": data}
            return {"type": "input_file", "file_url": data}
