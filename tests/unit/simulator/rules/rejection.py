"""Posts requests that must be rejected or accepted."""

import json
from typing import Any

import httpx

from tests.unit.simulator.requests import CALCULATE, ask, result, run_tool
from tests.unit.simulator.slow_decoder import assistant_message, decode

QUESTION = "What is 17 * 23 and what is 4 + 4?"
Message = dict[str, Any]


def post(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request."""
    return client.post("/chat/completions", json=body)


def accepted(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request that must be accepted."""
    response = post(client, body)
    assert response.status_code == 200, response.text
    return response


def rejection(client: httpx.Client, body: dict[str, Any], status: int = 400) -> str:
    """Post a request that must be rejected, and return the messages of the error."""
    response = post(client, body)
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == status
    return error["message"] + " " + error["metadata"].get("raw", "")


def assistant_text(text: str | None, **fields: Any) -> Message:
    """Return an assistant message."""
    return {"role": "assistant", "content": text, **fields}


def call(call_id: str, arguments: str = '{"expression": "1 + 1"}') -> Message:
    """Return an assistant message with one call."""
    function = {"name": "calculate", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def second_step(client: httpx.Client, family: str) -> dict[str, Any]:
    """Send the first step, and return the request of the second, with everything sent back."""
    body = ask(f"{family}/sim", QUESTION, reasoning={"effort": "medium"}, tools=[CALCULATE])
    decoded = decode(post(client, body).content)
    results = [result(c["id"], run_tool(c["name"], json.loads(c["arguments"]))) for c in decoded.calls]
    return {**body, "messages": [*body["messages"], assistant_message(decoded), *results]}
