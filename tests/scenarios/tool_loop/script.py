"""One script for both loops: a model's step, sent as a stream or one body as requested."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tests.support.scripted_upstream import DONE, Exchange, Script, chunk

Break = Literal["error", "cut"]
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.001}
ERROR = {"code": 502, "message": "Provider disconnected unexpectedly"}
CUT_BODY = b'{"id":"gen-scripted","choices":[{"index":0,"message":{"role":"assistant","content":"So f'


@dataclass(frozen=True)
class Called:
    """A call as the model writes it; without an id if `id` is None."""

    name: str
    arguments: str
    id: str | None = "by place"


@dataclass(frozen=True)
class Said:
    """One step; text and reasoning in their streamed pieces. `breaks` is how it fails after its text."""

    text: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    calls: tuple[Called, ...] = ()
    finish: str | None = None
    breaks: Break | None = None

    @property
    def reason(self) -> str:
        return self.finish or ("tool_calls" if self.calls else "stop")


def says(said: Said) -> Script:
    """Play a step in the requested form."""

    async def script(exchange: Exchange) -> None:
        await (_stream(exchange, said) if exchange.asked.body["stream"] else _whole(exchange, said))

    return script


def answers(*texts: str, reasoning: tuple[str, ...] = ()) -> Script:
    """Answer with text."""
    return says(Said(text=texts, reasoning=reasoning))


def calls(*made: Called, text: tuple[str, ...] = (), finish: str | None = None) -> Script:
    """Send some reasoning and calls."""
    return says(Said(text=text, reasoning=("I need ", "a tool."), calls=made, finish=finish))


def search(query: str, **fields: Any) -> Called:
    """Return a call of the search."""
    return Called("search_web", json.dumps({"query": query}), **fields)


def fails(status: int, message: str = "No.", **headers: str) -> Script:
    """Answer with an error status."""

    async def script(exchange: Exchange) -> None:
        body = json.dumps({"error": {"code": status, "message": message}}).encode()
        await exchange.whole(status, body, **headers)

    return script


async def _stream(exchange: Exchange, said: Said) -> None:
    await exchange.head()
    for frame in _frames(said):
        await exchange.send(frame)
    if said.breaks == "cut":
        return  # the connection closes in the middle of the body
    if said.breaks == "error":
        await exchange.send(chunk({"content": ""}, finish="error", error=ERROR) + DONE)
    else:
        await exchange.send(chunk({}, finish=said.reason, usage=USAGE) + DONE)
    await exchange.raw(b"0\r\n\r\n")


def _frames(said: Said) -> Iterator[bytes]:
    for piece in said.reasoning:
        yield chunk({"reasoning": piece})
    for piece in said.text:
        yield chunk({"content": piece})
    for place, call in enumerate(said.calls):
        half = len(call.arguments) // 2
        opened = _call(place, call, call.arguments[:half])
        yield chunk({"tool_calls": [opened]})
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": call.arguments[half:]}}]})


async def _whole(exchange: Exchange, said: Said) -> None:
    if said.breaks == "cut":
        lines = ["HTTP/1.1 200 Scripted", "content-type: application/json", "content-length: 5000", "", ""]
        await exchange.raw("\r\n".join(lines).encode() + CUT_BODY)
        return
    await exchange.whole(200, json.dumps(body_of(said)).encode())


def body_of(said: Said) -> dict[str, Any]:
    """Return the body of a step."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said.text) or None}
    if said.reasoning:
        message["reasoning"] = "".join(said.reasoning)
    if said.calls:
        message["tool_calls"] = [_call(place, call, call.arguments) for place, call in enumerate(said.calls)]
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": said.reason}
    if said.breaks == "error":
        choice |= {"finish_reason": "error", "error": ERROR}
    return {
        "id": "gen-scripted", "provider": "Scripted", "model": "openai/sim", "choices": [choice], "usage": USAGE
    }  # fmt: skip


def _call(place: int, call: Called, arguments: str) -> dict[str, Any]:
    value: dict[str, Any] = {"index": place, "type": "function"}
    if call.id is not None:
        value["id"] = f"call_{place}" if call.id == "by place" else call.id
    return {**value, "function": {"name": call.name, "arguments": arguments}}
