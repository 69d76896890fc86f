"""What the scripted model replies, and its form in the two dialects: chat completions and Anthropic's Messages."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tests.support.scripted_upstream import DONE, Exchange, chunk

MESSAGES_PATH = "/v1/messages"
# Why a reply ends. `cut`: the connection breaks off. `eof`: the body ends without a stop reason. `hold`: it never ends.
End = Literal["stop", "calls", "length", "refusal", "cut", "eof", "hold"]
_FINISH = {"stop": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}
_STOP_REASON = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}
TOKENS_IN, TOKENS_OUT = 10, 5


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` is a text, which may be cut off."""

    name: str
    arguments: str


def call(name: str, **arguments: object) -> Call:
    """Make a complete call."""
    return Call(name, json.dumps(arguments))


@dataclass(frozen=True)
class Reply:
    """One reply of the model; a `status` other than 200 is an error instead."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    end: End = "stop"
    status: int = 200

    @property
    def pieces(self) -> list[str]:
        """The text as it is streamed, a word at a time."""
        return re.findall(r"\S+\s*", self.text)

    @property
    def is_complete(self) -> bool:
        """Whether the reply is no error and not broken off."""
        return self.status == 200 and self.end in _FINISH


def answers(text: str = "Done.") -> Reply:
    """Reply with text."""
    return Reply(text)


def calls(*made: Call, text: str = "", end: End = "calls") -> Reply:
    """Reply with calls."""
    return Reply(text, made, end)


async def send(reply: Reply, exchange: Exchange, number: int) -> None:
    """Send a reply to the request with this number, from 1, in the dialect of its path."""
    speaks_messages = exchange.asked.path.startswith(MESSAGES_PATH)
    if reply.status != 200:
        error = {"type": "api_error", "code": reply.status, "message": "scripted"}
        body = {"type": "error", "error": error} if speaks_messages else {"error": error}
        await exchange.whole(reply.status, json.dumps(body).encode(), retry_after="0")
        return
    await exchange.head()
    for frame in frames_of(reply, exchange, number):
        await exchange.send(frame)
    if reply.end == "hold":
        await exchange.client_left()
    elif reply.end == "cut":
        raise ConnectionError
    else:
        await exchange.raw(b"0\r\n\r\n")


def frames_of(reply: Reply, exchange: Exchange, number: int) -> Iterator[bytes]:
    """Return the SSE frames of a reply in the dialect of the request's path."""
    speaks_messages = exchange.asked.path.startswith(MESSAGES_PATH)
    return _message_frames(reply, number) if speaks_messages else _chat_frames(reply, number)


def call_id(number: int, place: int) -> str:
    """Return the id of a call of a reply."""
    return f"call_{number}_{place}"


def _chat_frames(reply: Reply, number: int) -> Iterator[bytes]:
    for piece in reply.pieces:
        yield chunk({"role": "assistant", "content": piece})
    for place, made in enumerate(reply.calls):
        function = {"name": made.name, "arguments": ""}
        head = {"index": place, "id": call_id(number, place), "type": "function", "function": function}
        yield chunk({"role": "assistant", "tool_calls": [head]})
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": made.arguments}}]})
    if finish := _FINISH.get(reply.end):
        usage = {
            "prompt_tokens": TOKENS_IN,
            "completion_tokens": TOKENS_OUT,
            "total_tokens": TOKENS_IN + TOKENS_OUT,
            "cost": 0.01,
        }
        yield chunk({}, finish=finish)
        yield _chat_usage(usage) + DONE


def _chat_usage(usage: dict[str, Any]) -> bytes:
    value = {
        "id": "gen-scripted",
        "model": "openai/sim",
        "object": "chat.completion.chunk",
        "created": 1,
        "choices": [],
    }
    return b"data: " + json.dumps({**value, "usage": usage}).encode() + b"\n\n"


def _message_frames(reply: Reply, number: int) -> Iterator[bytes]:
    usage = {"input_tokens": TOKENS_IN, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "sim", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _message_event("message_start", message=message)
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in reply.pieces]))
    for place, made in enumerate(reply.calls):
        block = {"type": "tool_use", "id": call_id(number, place), "name": made.name, "input": {}}
        blocks.append((block, [{"type": "input_json_delta", "partial_json": made.arguments}]))
    is_over = reply.end in _STOP_REASON
    for index, (block, deltas) in enumerate(blocks):
        yield _message_event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield _message_event("content_block_delta", index=index, delta=delta)
        if is_over or reply.end in ("eof", "cut"):
            yield _message_event("content_block_stop", index=index)
    if is_over:
        delta = {"stop_reason": _STOP_REASON[reply.end], "stop_sequence": None}
        yield _message_event("message_delta", delta=delta, usage={"output_tokens": TOKENS_OUT})
        yield _message_event("message_stop")


def _message_event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
