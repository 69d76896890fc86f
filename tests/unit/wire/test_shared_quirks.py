"""Quirks that dialects share, in the events of each: braces inside strings, and limits that reasoning has used up."""

import json
from typing import Any

import pytest
from signalbox.chat.answer.response import parse_completion_response
from signalbox.core.parts import FinishReason
from signalbox.decode import stream_parts
from signalbox.wire.dialects import DIALECTS

ARGUMENTS = {"code": 'if (a) { return "}{"; } // {{', "path": "a}"}
TEXT = json.dumps(ARGUMENTS)


def frames(*events: dict[str, Any]) -> bytes:
    """Return a stream of events, each with its type as its name."""
    return b"".join(
        f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def chat_call() -> bytes:
    """Return a call whose arguments arrive in single characters, as chat completions."""
    calls = [[{"index": 0, "id": "c1", "function": {"name": "f", "arguments": ""}}]]
    calls += [[{"index": 0, "function": {"arguments": piece}}] for piece in TEXT]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": delta}}]} for delta in calls]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in [*chunks, end]) + b"data: [DONE]\n\n"


def responses_call() -> bytes:
    """Return the same call as events of the Responses API."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": ""}
    whole = {**item, "arguments": TEXT, "status": "completed"}
    delta = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0}
    return frames(
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *({**delta, "delta": piece} for piece in TEXT),
        {"type": "response.output_item.done", "output_index": 0, "item": whole},
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [whole]}},
    )


def messages_call() -> bytes:
    """Return the same call as events of the Messages API."""
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    delta = {"type": "content_block_delta", "index": 0}
    return frames(
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({**delta, "delta": {"type": "input_json_delta", "partial_json": piece}} for piece in TEXT),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )


@pytest.mark.parametrize(
    ("dialect", "stream"),
    [("openai-chat", chat_call()), ("openai-responses", responses_call()), ("anthropic-messages", messages_call())],
    ids=["openai-chat", "openai-responses", "anthropic-messages"],
)
def test_braces_inside_strings(dialect: str, stream: bytes) -> None:
    """Arguments end where their JSON ends, not where their braces are balanced (quirk A18)."""
    completion = parse_completion_response(stream_parts([stream], DIALECTS[dialect]))
    (call,) = completion.calls
    assert (call.id, call.name, call.value) == ("c1", "f", ARGUMENTS)


SPENT = {
    "openai-chat": b"".join(
        b"data: " + json.dumps({"choices": [{"index": 0, **choice}]}).encode() + b"\n\n"
        for choice in ({"delta": {"reasoning_content": "Hm."}}, {"delta": {}, "finish_reason": "length"})
    )
    + b"data: [DONE]\n\n",
    "openai-responses": frames(
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Hm."},
        {
            "type": "response.incomplete",
            "response": {"id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        },
    ),
    "anthropic-messages": frames(
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    ),
    "gemini": b"data: "
    + json.dumps(
        {"candidates": [{"content": {"parts": [{"text": "Hm.", "thought": True}]}, "finishReason": "MAX_TOKENS"}]}
    ).encode()
    + b"\n\n",
}


@pytest.mark.parametrize("dialect", SPENT)
def test_reasoning_uses_up_the_limit(dialect: str) -> None:
    """Each API's word for the limit means the same, so the loop requests the step once more (quirk B8)."""
    completion = parse_completion_response(stream_parts([SPENT[dialect]], DIALECTS[dialect]))
    assert (completion.content, completion.reasoning) == ("", "Hm.")
    assert completion.finish.reason is FinishReason.LENGTH
