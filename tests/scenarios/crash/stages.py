"""The stages at which a server is killed: one run per stage, and the scripted provider that stops there."""

import json
from dataclasses import dataclass
from typing import Any

from tests.support.scripted_upstream import DONE, Asked, Exchange, call_chunk, chunk, says

CONTINUE = {"on_disconnect": "continue"}
NEXT_QUESTION, NEXT_ANSWER = "And then?", "It goes on."
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.001}
BILL = {"usage": 0.5, "total_cost": 0.5, "native_tokens_prompt": 100, "native_tokens_completion": 50}


@dataclass(frozen=True)
class Stage:
    """The request, and the state of its run at the kill.

    `seen` must appear `times` times in the stream before the kill; then `open` calls have no result, `lines` are
    written, and `finished` steps have their cost.
    """

    name: str
    body: dict[str, Any]
    seen: str
    times: int = 1
    text: str = ""
    calls: int = 0
    open: int = 0
    lines: int = 0
    steps: int = 1
    finished: int = 0

    @property
    def ending(self) -> tuple[str, str | None]:
        return ("complete", None) if self.name == "complete" else ("interrupted", "SERVER_CRASH")


def _asks(name: str, *tools: str, **fields: Any) -> dict[str, Any]:
    return {"model": "openai/sim", "conversation_id": name, "prompt": name, "tools": [*tools], **CONTINUE, **fields}


def stages(loop: str) -> tuple[Stage, ...]:
    """Return all stages; the legacy loop receives a step with tools as one body, at its end."""
    after = "After it." if loop == "v2" else ""
    return (
        Stage("silent", _asks("silent"), ""),
        Stage("text", _asks("text"), "half.", text="So far half."),
        Stage("reasoning", _asks("reasoning"), "a thought"),
        Stage("eager", _asks("eager", "look"), "tool_executing", calls=1, open=1, finished=1),
        Stage("effect", _asks("effect", "keep_line"), "tool_executing", calls=1, open=1, lines=1, finished=1),
        # Eight tools run at once: the ninth call of a step is announced and does not start.
        Stage("many", _asks("many", "keep_line"), "tool_executing", 8, calls=9, open=9, lines=8, finished=1),
        Stage("next", _asks("next", "keep_line"), after or "tool_result", 1, after, 1, 0, 1, 2, 1),
        Stage("end", _asks("end", "keep_line", max_steps=2), "The end", 1, "The end", 1, 0, 1, 2, 1),
        Stage("complete", _asks("complete"), "All of it.", text="All of it.", finished=1),
    )


async def play(exchange: Exchange) -> None:
    """Answer up to the stage that the question names, then send nothing until the server disconnects."""
    body = exchange.asked.body
    if body["messages"][-1]["content"] == NEXT_QUESTION:
        await says(NEXT_ANSWER)(exchange)
        return
    name = question(exchange.asked)
    step = 1 + sum(message["role"] == "assistant" for message in body["messages"])
    generation = f"gen-{name}-{step}"
    if name == "silent":
        await exchange.client_left()
    elif name in ("eager", "effect", "many", "next", "end") and step == 1:
        await _call(exchange, name, generation)
    elif name == "next" and not body.get("stream"):
        await exchange.client_left()  # the legacy loop requests this step as one body
    else:
        await _say(exchange, name, generation)


def question(asked: Asked) -> str:
    """Return the first user message of a request."""
    said = next(message["content"] for message in asked.body["messages"] if message["role"] == "user")
    return said if isinstance(said, str) else said[0]["text"]


async def _say(exchange: Exchange, name: str, generation: str) -> None:
    said: dict[str, list[dict[str, Any]]] = {
        "text": [{"content": "So far "}, {"content": "half."}],
        "reasoning": [{"reasoning": "a thought"}],
        "next": [{"content": "After it."}],
        "end": [{"content": "The end"}],
        "complete": [{"content": "All of it."}],
    }
    # A proxy may drop the header, so frames alone identify the generation.
    told: dict[str, Any] = {} if name == "reasoning" else {"x_generation_id": generation}
    await exchange.head(**told)
    for delta in said[name]:
        await exchange.send(chunk(delta, id=generation))
    if name == "complete":
        await exchange.send(chunk({}, finish="stop", id=generation, usage=USAGE) + DONE)
        await exchange.raw(b"0\r\n\r\n")
    else:
        await exchange.client_left()


async def _call(exchange: Exchange, name: str, generation: str) -> None:
    await call(exchange, "look" if name == "eager" else "keep_line", name, generation, 9 if name == "many" else 1)


async def call(exchange: Exchange, tool: str, name: str, generation: str, times: int = 1) -> None:
    """Answer with a step of calls, as a stream or as one body."""
    calls = [(place, f'{{"name": "{name}"}}') for place in range(times)]
    if not exchange.asked.body.get("stream"):
        await _call_whole(exchange, tool, calls, generation)
        return
    await exchange.head(x_generation_id=generation)
    for place, arguments in calls:
        await exchange.send(call_chunk(tool, arguments, index=place, call_id=f"call_{place}"))
    await exchange.send(chunk({}, finish="tool_calls", id=generation, usage=USAGE) + DONE)
    await exchange.raw(b"0\r\n\r\n")


async def _call_whole(exchange: Exchange, tool: str, calls: list[tuple[int, str]], generation: str) -> None:
    told = [
        {"id": f"call_{place}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        for place, arguments in calls
    ]
    message = {"role": "assistant", "content": None, "tool_calls": told}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    whole = {"id": generation, "model": "openai/sim", "provider": "Scripted", "choices": [choice], "usage": USAGE}
    await exchange.whole(200, json.dumps(whole).encode())
