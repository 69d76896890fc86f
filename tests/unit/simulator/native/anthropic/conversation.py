"""Requests to the simulator's Messages API, and a slow decoder of its answers."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import TOOLS, run_tool

Block = dict[str, Any]
HEADERS = {"x-api-key": "unused", "anthropic-version": "2023-06-01"}
THINKING = {"type": "enabled", "budget_tokens": 1024}


def connect(simulator: BackgroundSimulator) -> httpx.Client:
    """Return a client of the API."""
    base = f"http://{simulator.host}:{simulator.port}/anthropic"
    return httpx.Client(base_url=base, headers=HEADERS, timeout=10, verify=False)


def native_tools() -> list[dict[str, Any]]:
    """Return the tools of the other tests in the API's own format."""
    functions = [tool["function"] for tool in TOOLS]
    return [
        {"name": one["name"], "description": one["description"], "input_schema": one["parameters"]} for one in functions
    ]


def ask(model: str, *messages: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
    """Return a request body; a string is a user message."""
    written = [user(message) if isinstance(message, str) else message for message in messages]
    return {"model": model, "max_tokens": 2000, "messages": written, "tools": native_tools(), **fields}


def user(*blocks: Block | str) -> dict[str, Any]:
    """Return a user message; a string is a text block."""
    written = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {"role": "user", "content": written}


def assistant(*blocks: Block) -> dict[str, Any]:
    """Return an assistant message."""
    return {"role": "assistant", "content": [*blocks]}


def results_of(blocks: list[Block]) -> dict[str, Any]:
    """Return the user message with the results of all calls."""
    calls = [block for block in blocks if block["type"] == "tool_use"]
    return user(
        *(
            {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": json.dumps(run_tool(call["name"], call["input"])),
            }
            for call in calls
        )
    )


def post(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request."""
    return client.post("/v1/messages", json=body)


def answered(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """Return the message of an accepted request, sent as the body says: streamed or not."""
    response = post(client, body)
    assert response.status_code == 200, response.text
    return message_in(response.text) if body.get("stream") else response.json()


def rejected(client: httpx.Client, body: dict[str, Any], status: int = 400) -> str:
    """Return the message of the error."""
    response = post(client, body)
    assert response.status_code == status, response.text
    found = response.json()
    assert found["type"] == "error"
    assert found["request_id"] == response.headers["request-id"]
    return found["error"]["message"]


def events_in(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the names and data of the events."""
    for frame in text.strip().split("\n\n"):
        name, data = frame.split("\n")
        yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def message_in(text: str) -> dict[str, Any]:
    """Put a message together from its events, whose order is checked."""
    events = [event for event in events_in(text) if event[0] != "ping"]
    assert events[0][0] == "message_start"
    assert [name for name, _ in events[-2:]] == ["message_delta", "message_stop"]
    message = events[0][1]["message"]
    for name, data in events[1:-2]:
        assert data["type"] == name
        if name == "content_block_start":
            assert data["index"] == len(message["content"])
            message["content"].append({**data["content_block"], "json": ""})
        elif name == "content_block_delta":
            _add(message["content"][data["index"]], data["delta"])
    ending = events[-2][1]
    usage = {**message["usage"], **ending["usage"]}
    content = [_finished(block) for block in message["content"]]
    return {**message, **ending["delta"], "usage": usage, "content": content}


def _add(block: Block, delta: dict[str, Any]) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] += delta["signature"]
        case "citations_delta":
            block["citations"].append(delta["citation"])
        case "input_json_delta":
            block["json"] += delta["partial_json"]
        case _:
            pass


def _finished(block: Block) -> Block:
    text = block.pop("json")
    return {**block, "input": json.loads(text)} if text else block
