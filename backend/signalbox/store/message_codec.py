"""Converts messages to JSON and back, with server-only fields: opaque reasoning and the provider's ids."""

from typing import cast

from msgspec import json

from signalbox.core.messages import (
    AssistantMessage,
    Content,
    ContentPart,
    FilePart,
    ImagePart,
    JsonObject,
    JsonValue,
    Message,
    Native,
    ReasoningDetail,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.wire.json_text import clean

_encoder, _decoder = json.Encoder(), json.Decoder()


def dumps(value: JsonValue) -> bytes:
    """Encode JSON so that `loads` returns an equal value; orjson would turn integers beyond 64 bits into floats."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:  # lone surrogates must not lose the rest
        return _encoder.encode(clean(value))


def loads(data: bytes) -> JsonValue:
    """Decode the output of `dumps`."""
    return cast(JsonValue, _decoder.decode(data))


def dump_message(message: Message) -> bytes:
    """Encode one message."""
    return dumps(to_json(message))


def load_message(data: bytes) -> Message:
    """Decode one message."""
    return from_json(cast(JsonObject, loads(data)))


def to_json(message: Message) -> JsonObject:
    """Convert a message to JSON; empty fields are left out."""
    match message:
        case SystemMessage(content):
            return {"role": "system", "content": _content(content)}
        case UserMessage(content):
            return {"role": "user", "content": _content(content)}
        case ToolMessage():
            return {
                "role": "tool",
                "call_id": message.call_id,
                "name": message.name,
                "content": message.content,
                "outside": message.untrusted,
                **_cache(message),
                **({} if message.artifact is None else {"artifact": message.artifact}),
                **({"is_error": True} if message.is_error else {}),
                **({} if message.shown is None else {"shown": message.shown}),
                **({"images": [image.url for image in message.images]} if message.images else {}),
            }
        case AssistantMessage():
            fields: JsonObject = {
                "content": message.content or None,
                "calls": [_call(call) for call in message.calls] or None,
                "reasoning": message.reasoning or None,
                "reasoning_details": [dict(detail.raw) for detail in message.reasoning_details] or None,
                "reasoning_field": message.reasoning_field,
                "model": message.model,
                "provider": message.provider,
                "images": [image.url for image in message.images] or None,
                "native": _native(message.native),
                "upstream": message.upstream or None,
            }
            return {"role": "assistant", **{name: value for name, value in fields.items() if value is not None}}


def from_json(value: JsonObject) -> Message:
    """Convert the output of `to_json` to a message."""
    match value["role"]:
        case "system":
            return SystemMessage(_parsed(value["content"]))
        case "user":
            return UserMessage(_parsed(value["content"]))
        case "tool":
            ids = str(value["call_id"]), str(value["name"])
            text, untrusted = str(value["content"]), bool(value["outside"])
            shown = value.get("artifact"), value.get("is_error") is True, _text(value.get("shown"))
            return ToolMessage(*ids, text, untrusted, _cache_in(value), *shown, _images_of(value))
        case _:
            return _assistant(value)


def _assistant(value: JsonObject) -> AssistantMessage:
    calls = cast(list[JsonObject], value.get("calls", []))
    details = cast(list[JsonObject], value.get("reasoning_details", []))
    return AssistantMessage(
        content=str(value.get("content", "")),
        calls=tuple(map(_call_of, calls)),
        reasoning=str(value.get("reasoning", "")),
        reasoning_details=tuple(ReasoningDetail(detail) for detail in details),
        reasoning_field=_text(value.get("reasoning_field")),
        model=_text(value.get("model")),
        provider=_text(value.get("provider")),
        images=_images_of(value),
        native=_native_of(value.get("native")),
        upstream=_text(value.get("upstream")) or "",
    )


def _native(native: Native | None) -> JsonObject | None:
    if native is None:
        return None
    return {"dialect": native.dialect, "items": list(native.items), "upstream": native.upstream}


def _native_of(value: JsonValue) -> Native | None:
    if not isinstance(value, dict):
        return None
    return Native(str(value["dialect"]), tuple(cast(list[JsonObject], value["items"])), str(value["upstream"]))


def _images_of(value: JsonObject) -> tuple[ImagePart, ...]:
    return tuple(ImagePart(str(url)) for url in cast(list[JsonValue], value.get("images", [])))


def _call(call: ToolCall) -> JsonObject:
    named: JsonObject = {"upstream_id": call.upstream_id} if call.upstream_id is not None else {}
    raw: JsonObject = {"raw": call.raw} if call.raw is not None else {}
    return {"id": call.id, "name": call.name, "arguments": call.arguments, **named, **raw}


def _call_of(value: JsonObject) -> ToolCall:
    return ToolCall(
        id=str(value["id"]),
        name=str(value["name"]),
        arguments=cast(JsonObject, value["arguments"]),
        upstream_id=_text(value.get("upstream_id")),
        raw=_text(value.get("raw")),
    )


def _content(content: Content) -> JsonValue:
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            return {"text": text, **_cache(part)}
        case ImagePart(url, detail):
            return {"image": url, "detail": detail, **_cache(part)}
        case FilePart(filename, data):
            return {"file": filename, "data": data, **_cache(part)}


def _cache(one: ContentPart | ToolMessage) -> JsonObject:
    return {} if one.cache_control is None else {"cache": one.cache_control}


def _parsed(value: JsonValue) -> Content:
    if isinstance(value, str):
        return value
    return tuple(_part_of(part) for part in cast(list[JsonObject], value))


def _part_of(part: JsonObject) -> ContentPart:
    if "image" in part:
        return ImagePart(str(part["image"]), _text(part["detail"]), _cache_in(part))
    if "file" in part:
        return FilePart(str(part["file"]), str(part["data"]), _cache_in(part))
    return TextPart(str(part["text"]), _cache_in(part))


def _cache_in(part: JsonObject) -> JsonObject | None:
    return cast("JsonObject | None", part.get("cache"))


def _text(value: JsonValue) -> str | None:
    return None if value is None else str(value)
