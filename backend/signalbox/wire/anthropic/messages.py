"""Writes a conversation as the API's `system` and `messages`."""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

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
    ToolCall,
    ToolMessage,
)
from signalbox.wire.anthropic.attached import document_of, image_of
from signalbox.wire.anthropic.decoder import NAME

# A turn must have content, and the first turn must be the user's.
_EMPTY = "(empty)"
_BEGIN = "(The beginning of this conversation is not shown.)"
_NO_OUTPUT = "(no output)"


def system_of(messages: Sequence[Message]) -> tuple[list[JsonObject], Sequence[Message]]:
    """Return the blocks of the leading system messages, and the messages after them."""
    count = 0
    while count < len(messages) and isinstance(messages[count], SystemMessage):
        count += 1
    blocks = [block for message in messages[:count] for block in _content(message.content)]
    return blocks, messages[count:]


def turns_of(messages: Sequence[Message]) -> list[JsonObject]:
    """Write the messages as turns that alternate between user and assistant.

    Results come first in the user's turn: 400 "`tool_use` ids were found without `tool_result` blocks immediately
    after" otherwise. Later system messages become text of the user.
    """
    written = [(isinstance(message, AssistantMessage), _blocks(message)) for message in messages]
    # An answer without content is left out, so that its neighbours become one turn.
    kept = [(is_answer, blocks) for is_answer, blocks in written if blocks or not is_answer]
    turns: list[JsonObject] = []
    for is_answer, group in groupby(kept, itemgetter(0)):
        blocks = [block for _, inner in group for block in inner]
        if is_answer:
            if not turns:
                turns.append(_turn("user", [_text(_BEGIN)]))
            turns.append(_turn("assistant", blocks))
        else:
            turns.append(_turn("user", sorted(blocks, key=_is_no_result)))
    return turns or [_turn("user", [])]


def _turn(role: str, blocks: list[JsonObject]) -> JsonObject:
    return {"role": role, "content": [*blocks] or [_text(_EMPTY)]}


def _is_no_result(block: JsonObject) -> bool:
    return block.get("type") != "tool_result"


def _blocks(message: Message) -> list[JsonObject]:
    match message:
        case AssistantMessage():
            return _assistant(message)
        case ToolMessage():
            return [_result(message)]
        case _:
            return _content(message.content)


def _assistant(message: AssistantMessage) -> list[JsonObject]:
    """Return the blocks of an answer: as the API sent them, otherwise its text and calls without reasoning."""
    native = message.native
    if native is not None and native.dialect == NAME:
        return [item for item in native.items if _is_accepted(item)]
    blocks = [_text(message.content)] if message.content.strip() else []
    return [*blocks, *map(_call, message.calls)]


def _call(call: ToolCall) -> JsonObject:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}


def _is_accepted(item: JsonObject) -> bool:
    """Whether the API accepts its own block again: not a blank text, nor thinking without text and signature.

    400 "text content blocks must be non-empty" (quirk C4); an empty thinking block is rejected too (BoltAI#285).
    """
    text = item.get("text")
    if item.get("type") == "text":
        return isinstance(text, str) and bool(text.strip())
    return item.get("type") != "thinking" or bool(item.get("thinking") or item.get("signature"))


def _result(message: ToolMessage) -> JsonObject:
    result: JsonObject = {"type": "tool_result", "tool_use_id": message.call_id}
    text = message.content if message.content.strip() else _NO_OUTPUT
    result["content"] = [_text(text), *map(image_of, message.images)] if message.images else text
    if message.is_error:
        result["is_error"] = True
    if message.cache_control is not None:
        result["cache_control"] = message.cache_control
    return result


def _content(content: Content) -> list[JsonObject]:
    """Return the blocks of a content; blank texts are left out, because the API rejects them (quirk C4)."""
    if isinstance(content, str):
        return [_text(content)] if content.strip() else []
    return [_part(part) for part in content if not isinstance(part, TextPart) or part.text.strip()]


def _part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            block = _text(text)
        case ImagePart():
            block = image_of(part)
        case FilePart():
            block = document_of(part)
    return block if part.cache_control is None else {**block, "cache_control": part.cache_control}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
