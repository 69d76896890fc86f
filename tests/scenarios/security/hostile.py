"""A model that obeys injected instructions, and a server of the attacker that records requests."""

import json
from collections.abc import Callable
from typing import Any

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec

from tests.support.scripted_upstream import DONE, Exchange, chunk

Step = tuple[str, dict[str, Any]]


def page_tool(read: Callable[[], JsonValue], name: str = "open_page", *, eager: bool = False) -> Tool:
    """Make a plugin's tool that returns text from outside, without a declaration of trust."""

    async def run(arguments: JsonObject, context: ToolContext) -> JsonValue:
        return read()

    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    return Tool(ToolSpec(name, "Opens the page.", schema, eager=eager), run)


def obeys(*steps: Step | list[Step]) -> Callable[[Exchange], Any]:
    """Make a script that calls these tools one step at a time in each run, then answers."""

    async def script(exchange: Exchange) -> None:
        said = exchange.asked.body["messages"]
        question = max(at for at, message in enumerate(said) if message["role"] == "user")
        done = sum(message["role"] == "assistant" for message in said[question:])
        step = steps[done] if done < len(steps) else []
        calls = [_call(place, done, call) for place, call in enumerate([step] if isinstance(step, tuple) else step)]
        message = {"tool_calls": calls} if calls else {"content": "Done."}
        finish = "tool_calls" if calls else "stop"
        if exchange.asked.body.get("stream"):
            await exchange.head()
            await exchange.send(chunk(message) + chunk({}, finish=finish) + DONE)
            await exchange.raw(b"0\r\n\r\n")
        else:
            choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
            await exchange.whole(200, json.dumps({"id": "gen-1", "choices": [choice]}).encode())

    return script


def _call(place: int, step: int, call: Step) -> dict[str, Any]:
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    return {"index": place, "id": f"call_{step}_{place}", "type": "function", "function": function}


async def listens(exchange: Exchange) -> None:
    """Act as a web page of the attacker; every requested URL is recorded."""
    await exchange.whole(200, b"<p>Thank you.</p>", "text/html")


def tool_messages(body: dict[str, Any]) -> list[str]:
    """Return the contents of a request's tool messages."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]
