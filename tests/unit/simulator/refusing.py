"""Requests that must be refused or taken, and the messages that they are made of."""

import json
from typing import Any

import httpx

from tests.unit.simulator.requests import CALCULATE, ask, result, run_tool
from tests.unit.simulator.slow_decoder import hear, said

QUESTION = "What is 17 * 23 and what is 4 + 4?"
Message = dict[str, Any]


def post(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request."""
    return client.post("/chat/completions", json=body)


def taken(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request that must be answered."""
    response = post(client, body)
    assert response.status_code == 200, response.text
    return response


def refusal(client: httpx.Client, body: dict[str, Any], status: int = 400) -> str:
    """Post a request that must be refused and give everything the refusal says."""
    response = post(client, body)
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == status
    return error["message"] + " " + error["metadata"].get("raw", "")


def said_before(text: str | None, **fields: Any) -> Message:
    """Write an assistant message."""
    return {"role": "assistant", "content": text, **fields}


def call(call_id: str, arguments: str = '{"expression": "1 + 1"}') -> Message:
    """Write an assistant message with one call."""
    function = {"name": "calculate", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def second_step(client: httpx.Client, family: str) -> dict[str, Any]:
    """Play a first step and write the request a faithful client sends next."""
    body = ask(f"{family}/sim", QUESTION, reasoning={"effort": "medium"}, tools=[CALCULATE])
    heard = hear(post(client, body).content)
    results = [result(c["id"], run_tool(c["name"], json.loads(c["arguments"]))) for c in heard.calls]
    return {**body, "messages": [*body["messages"], said(heard), *results]}
