"""Writes a Request as the JSON body of a chat completion."""

from collections.abc import Mapping
from typing import cast

import orjson
from msgspec import to_builtins

from signalbox.core.messages import (
    NO_REASONING,
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
from signalbox.core.params import NO_PARAMS, Choice, ForcedTool, Params, Reasoning, Routing
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.json_text import dumps
from signalbox.wire.openai_models import SAMPLING, limits_completions, reasons, samples

# The field of DeepSeek and Kimi for reasoning text; OpenRouter's is `reasoning`.
_OLD_REASONING_FIELD = "reasoning_content"
# OpenAI's parameter for reasoning; OpenRouter's is the object `reasoning`.
_EFFORT = "reasoning_effort"
# The JSON of tools, by the identity of their schema, which lives as long as its tool (`ToolSpec.schema`). An entry
# holds its schema, so that no other schema gets the same identity.
_fragments: dict[int, tuple[ToolSchema, JsonValue]] = {}
_MOST_FRAGMENTS = 1024
# Parameters whose JSON key differs from their neutral name.
KEYS = {
    "parallel": "parallel_tool_calls",
    "format": "response_format",
    "routing": "provider",
    "fallbacks": "models",
}
_NEWER_KEYS = {**KEYS, "max_tokens": "max_completion_tokens"}


def body_of(request: Request, *, stream: bool, routed: bool = True) -> bytes:
    """Write the body. `routed`: for OpenRouter, which always reports usage and accepts a session id.

    Other servers report the usage of a stream only on request (`stream_options`), do not know `session_id` and
    `cache_control`, and take the reasoning effort as OpenAI does.
    """
    try:
        return orjson.dumps(_body(request, list(map(_fragment, request.tools)), stream=stream, routed=routed))
    except TypeError:  # a value that only the slower writer accepts; it does not know fragments
        return dumps(_body(request, list(map(_tool, request.tools)), stream=stream, routed=routed))


def _body(request: Request, tools: JsonValue, *, stream: bool, routed: bool) -> JsonObject:
    body: JsonObject = {
        "model": request.model,
        "messages": [_message(message, routed=routed) for message in request.messages],
        "stream": stream,
    }
    if request.tools:
        body["tools"] = tools
        if request.tool_choice is not None:
            body["tool_choice"] = _choice(request.tool_choice)
    if request.params is not NO_PARAMS:
        _add_params(request, body, routed=routed)
    if routed and request.session_id:
        body["session_id"] = request.session_id
    if not routed and stream:
        body["stream_options"] = {"include_usage": True}
    return body


def _add_params(request: Request, body: JsonObject, *, routed: bool) -> None:
    """Add the parameters: the caller's in a fixed order, then those that guardrails added."""
    params = request.params
    keys, left_out = (KEYS, ()) if routed else _names_of(request.model, params)
    for name in params.set_fields():
        value = getattr(params, name)
        if name in left_out:
            continue
        if isinstance(value, Reasoning) and not routed:
            body[_EFFORT] = value.effort or ("none" if value.enabled is False else None)
        else:
            body[keys.get(name, name)] = _value(value)
    body.update(params.extra)


def _names_of(model: str, params: Params) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the keys of parameters, and the parameters that a model of OpenAI rejects; other models have none."""
    sampling = () if samples(model, params.reasoning) else SAMPLING
    rejected = sampling if reasons(model) else (*sampling, "reasoning")
    return (_NEWER_KEYS if limits_completions(model) else KEYS), rejected


def _value(value: JsonValue | Reasoning | Routing) -> JsonValue:
    match value:
        case Reasoning():
            return cast(JsonValue, to_builtins(value))
        case Routing(preferences, _, None):
            return dict(preferences)
        case Routing(preferences, _, provider):
            return {**preferences, "order": [provider], "allow_fallbacks": False}
        case _:
            return value


def _choice(choice: Choice) -> JsonValue:
    return {"type": "function", "function": {"name": choice.name}} if isinstance(choice, ForcedTool) else choice


def _fragment(tool: ToolSchema) -> JsonValue:
    """Return a tool's JSON, which orjson copies into the body."""
    known = _fragments.get(id(tool))
    if known is None:
        if len(_fragments) >= _MOST_FRAGMENTS:
            _fragments.clear()
        known = _fragments[id(tool)] = (tool, cast(JsonValue, orjson.Fragment(dumps(_tool(tool)))))
    return known[1]


def _tool(tool: ToolSchema) -> JsonObject:
    function: JsonObject = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _message(message: Message, *, routed: bool) -> JsonObject:
    match message:
        case SystemMessage(content):
            return {"role": "system", "content": _content(content, routed=routed)}
        case UserMessage(content):
            return {"role": "user", "content": _content(content, routed=routed)}
        case ToolMessage(call_id, name, content):
            text: JsonValue = content or "(no output)"
            if routed and message.cache_control is not None:  # only a part can have it
                text = [{"type": "text", "text": text, "cache_control": message.cache_control}]
            return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}
        case AssistantMessage():
            return _assistant(message)


def _assistant(message: AssistantMessage) -> JsonObject:
    """Write an assistant turn: no blank text beside calls (quirk C4); details replace plain reasoning, unchanged."""
    out: JsonObject = {"role": "assistant", "content": message.content if message.content.strip() else None}
    if message.calls:
        out["tool_calls"] = [_call(call) for call in message.calls]
    if message.reasoning_details:
        out["reasoning_details"] = [dict(detail.raw) for detail in message.reasoning_details]
    elif message.reasoning_field == NO_REASONING:
        out[_OLD_REASONING_FIELD] = ""
    elif message.reasoning or message.reasoning_field:
        out[message.reasoning_field or "reasoning"] = message.reasoning
    return out


def _call(call: ToolCall) -> JsonObject:
    arguments = dumps(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _content(content: Content, *, routed: bool) -> JsonValue:
    if isinstance(content, str):
        return content
    if not routed:
        return [_part(part) for part in content]
    return [
        _part(part) if part.cache_control is None else {**_part(part), "cache_control": part.cache_control}
        for part in content
    ]


def _part(part: ContentPart) -> JsonObject:
    match part:
        case TextPart(text):
            return {"type": "text", "text": text}
        case ImagePart(url, detail):
            image: JsonObject = {"url": url}
            if detail:
                image["detail"] = detail
            return {"type": "image_url", "image_url": image}
        case FilePart(filename, data):
            return {"type": "file", "file": {"filename": filename, "file_data": data}}
