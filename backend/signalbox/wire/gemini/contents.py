"""Writes the messages of a conversation as Gemini's `contents`: turns of the roles `user` and `model`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeGuard

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
from signalbox.wire.gemini.decoder import NAME
from signalbox.wire.gemini.values import text_in

# Gemini 3 rejects a call of the open tool loop without a signature ("Function call is missing a thought_signature in
# functionCall parts"). Google's documentation names this value for calls that another model or the client wrote.
_SKIP_SIGNATURE = "skip_thought_signature_validator"
_DATA_URL = re.compile(r"data:([^;,]*)[^,]*;base64,", re.IGNORECASE)
_EMPTY = "(no output)"
# The type of a linked file is required; the path of the URL names it. Gemini reads it from the file if this is wrong.
_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
}


def system_instruction_of(messages: Sequence[Message]) -> JsonObject | None:
    """Return the system messages before the first turn, None if there is none."""
    parts: list[JsonValue] = []
    for message in messages:
        if not isinstance(message, SystemMessage):
            break
        parts += _parts(message.content)
    return {"parts": parts} if parts else None


def contents_of(messages: Sequence[Message], *, signs_calls: bool, with_instructions: bool = False) -> list[JsonValue]:
    """Return the turns after the leading system messages.

    All results of a step form one turn, because their number must equal the number of calls (quirk C8). `signs_calls`:
    the model rejects calls without a signature. `with_instructions`: it has no system instruction, so the leading
    system messages become turns of the user.
    """
    contents: list[JsonValue] = []
    step: Iterator[JsonValue] = iter(())
    for kind, group in groupby(messages, type):
        if kind is ToolMessage:
            contents.append(_results(group, step))
            continue
        for message in group:
            if isinstance(message, AssistantMessage):
                parts = _model_parts(message, signs_calls=signs_calls)
                step = iter(_ids_of(parts))
                contents.append({"role": "model", "parts": parts})
            elif isinstance(message, UserMessage) or _has_place(message, contents, with_instructions):
                contents.append({"role": "user", "parts": _parts(message.content)})
    return contents


def _has_place(message: Message, contents: Sequence[JsonValue], with_instructions: bool) -> TypeGuard[SystemMessage]:
    """Whether a system message is a turn: a leading one is the system instruction."""
    return isinstance(message, SystemMessage) and (with_instructions or bool(contents))


def _results(messages: Iterable[Message], ids: Iterator[JsonValue]) -> JsonObject:
    """Return the results of a step. The API matches them by the ids of its calls, and else by name and order."""
    parts: list[JsonValue] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            key = "error" if message.is_error else "output"
            response: JsonObject = {"name": message.name, "response": {key: message.content or _EMPTY}}
            call_id = next(ids, None)
            parts.append({"functionResponse": {"id": call_id, **response} if call_id else response})
    return {"role": "user", "parts": parts}


def _ids_of(parts: Iterable[JsonValue]) -> list[JsonValue]:
    """Return the ids of the calls of a turn; a call to which the API gave no id has None."""
    calls = [part.get("functionCall") for part in parts if isinstance(part, dict)]
    return [text_in(call, "id") or None for call in calls if isinstance(call, dict)]


def _model_parts(message: AssistantMessage, *, signs_calls: bool) -> list[JsonValue]:
    """Return the API's own parts, unchanged, or else text and calls without reasoning.

    Ids are not written for such calls: the API did not choose them.
    """
    native = message.native
    if native is not None and native.dialect == NAME:
        return [*native.items]
    text: list[JsonValue] = [{"text": message.content}] if message.content.strip() else []
    calls = [_call(call) for call in message.calls]
    if calls and signs_calls:
        calls[0] = {**calls[0], "thoughtSignature": _SKIP_SIGNATURE}
    return [*text, *calls] or [{"text": message.content or " "}]


def _call(call: ToolCall) -> JsonObject:
    return {"functionCall": {"name": call.name, "args": call.arguments}}


def _parts(content: Content) -> list[JsonValue]:
    if isinstance(content, str):
        return [{"text": content}]
    return [_part(part) for part in content] or [{"text": ""}]  # a turn needs a part


def _part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            return {"text": text}
        case ImagePart(url):
            return _file(url, "image/png")
        case FilePart(_, data):
            return _file(data, "application/pdf")


def _file(url: str, kind: str) -> JsonObject:
    """Return a file: data as `inlineData`, an address as `fileData`. `kind` is the type if the URL names none."""
    if (head := _DATA_URL.match(url)) is not None:
        return {"inlineData": {"mimeType": head[1] or kind, "data": url[head.end() :]}}
    ending = url.partition("?")[0].rpartition(".")[2].lower()
    return {"fileData": {"mimeType": _TYPES.get(ending, kind), "fileUri": url}}
