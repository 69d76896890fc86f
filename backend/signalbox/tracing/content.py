"""Prompts, answers, arguments and results as attributes: used only if the operator has switched content on."""

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

import orjson

from signalbox.core.messages import (
    AssistantMessage,
    Content,
    FilePart,
    ImagePart,
    JsonObject,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
)
from signalbox.core.parts import Completion
from signalbox.tracing.attributes import Attributes, put
from signalbox.tracing.names import Names

Json: TypeAlias = dict[str, Any]

_DATA = "data:"


def exchange_attributes(names: Names, messages: Sequence[Message], completion: Completion) -> Attributes:
    """Return the messages of a request and its answer."""
    system = [part for one in messages if isinstance(one, SystemMessage) for part in _parts_of(one.content)]
    asked = [_message(one) for one in messages if not isinstance(one, SystemMessage)]
    answered = [_answer(completion)]
    if names.system_instructions:
        return put(
            {},
            {
                names.system_instructions: _json(system) if system else None,
                names.input_messages: _json(asked),
                names.output_messages: _json(answered),
            },
        )
    flat = _flattened(names.input_messages, [*({"role": "system", "parts": [one]} for one in system), *asked])
    return {**flat, **_flattened(names.output_messages, answered)}


def run_content(names: Names, asked: Message | None, completion: Completion | None) -> Attributes:
    """Return the question of a run and its final answer."""
    question = [_message(asked)] if asked is not None else []
    answer = [_answer(completion)] if completion is not None else []
    if names.input_value:
        return put({}, {names.input_value: _text_of(question), names.output_value: _text_of(answer)})
    return put(
        {},
        {
            names.input_messages: _json(question) if question else None,
            names.output_messages: _json(answer) if answer else None,
        },
    )


def call_content(names: Names, arguments: JsonObject, result: str) -> Attributes:
    """Return the arguments of a call, and its result as the model receives it."""
    return put({}, {names.tool_arguments: _json(arguments), names.tool_result: result})


def _message(message: Message) -> Json:
    if isinstance(message, AssistantMessage):
        calls = [_call(one.id, one.name, dict(one.arguments)) for one in message.calls]
        return {"role": "assistant", "parts": [*_texts(message.reasoning, message.content), *calls]}
    if isinstance(message, ToolMessage):
        response = {"type": "tool_call_response", "id": message.call_id, "response": message.content}
        return {"role": "tool", "parts": [response]}
    return {"role": "system" if isinstance(message, SystemMessage) else "user", "parts": _parts_of(message.content)}


def _answer(completion: Completion) -> Json:
    calls = [
        _call(one.id or "", one.name, one.value if one.value is not None else one.arguments) for one in completion.calls
    ]
    parts = [*_texts(completion.reasoning, completion.content or completion.refusal), *calls]
    finish = {"finish_reason": completion.finish.word} if completion.finish.word else {}
    return {"role": "assistant", "parts": parts, **finish}


def _texts(reasoning: str, text: str) -> list[Json]:
    found = [("reasoning", reasoning), ("text", text)]
    return [{"type": kind, "content": value} for kind, value in found if value]


def _call(call_id: str, name: str, arguments: object) -> Json:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def _parts_of(content: Content) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "content": content}]
    return [_part(one) for one in content]


def _part(part: TextPart | ImagePart | FilePart) -> Json:
    """Return a part of a message; images and files in it are named, because their data is too large for a span."""
    if isinstance(part, TextPart):
        return {"type": "text", "content": part.text}
    if isinstance(part, ImagePart):
        shown = "(image data)" if part.url.startswith(_DATA) else part.url
        return {"type": "uri", "modality": "image", "uri": shown}
    return {"type": "file", "name": part.filename}


def _flattened(prefix: str, messages: Sequence[Json]) -> Attributes:
    """Return messages as OpenInference writes them: one attribute for each text and each field of a call."""
    found: Attributes = {}
    for number, message in enumerate(messages):
        base = f"{prefix}.{number}.message"
        parts: Sequence[Json] = message["parts"]
        calls = [part for part in parts if part["type"] == "tool_call"]
        put(found, {f"{base}.role": str(message["role"]), f"{base}.content": _text_of([message])})
        for place, call in enumerate(calls):
            at = f"{base}.tool_calls.{place}.tool_call"
            put(
                found,
                {
                    f"{at}.id": str(call["id"]),
                    f"{at}.function.name": str(call["name"]),
                    f"{at}.function.arguments": _json(call["arguments"]),
                },
            )
        answered = next((str(part["id"]) for part in parts if part["type"] == "tool_call_response"), None)
        put(found, {f"{base}.tool_call_id": answered})
    return found


def _text_of(messages: Sequence[Json]) -> str:
    """Return the texts and results of messages."""
    texts: list[str] = []
    for message in messages:
        parts: Sequence[Json] = message["parts"]
        texts += [str(part.get("content", part.get("response", ""))) for part in parts if part["type"] in _SHOWN]
    return "\n".join(texts)


_SHOWN = ("text", "tool_call_response")


def _json(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a lone surrogate or a large integer: the run must not end because of its trace
        return json.dumps(value, default=str)
