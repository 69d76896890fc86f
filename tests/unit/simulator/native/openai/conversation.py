"""Requests to the simulator's Responses API, and a slow decoder of its answers."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
from signalbox.simulator.http.server import BackgroundSimulator

from tests.unit.simulator.requests import TOOLS, run_tool

Item = dict[str, Any]
HEADERS = {"authorization": "Bearer unused"}
SUMMARY = {"effort": "high", "summary": "auto"}
ENCRYPTED = {"include": ["reasoning.encrypted_content"], "store": False}
_ENDS = ("response.completed", "response.incomplete")


def connect(simulator: BackgroundSimulator) -> httpx.Client:
    """Return a client of the API."""
    base = f"http://{simulator.host}:{simulator.port}/openai/v1"
    return httpx.Client(base_url=base, headers=HEADERS, timeout=10, verify=False)


def native_tools() -> list[dict[str, Any]]:
    """Return the tools of the other tests in the API's own format."""
    return [{"type": "function", "strict": False, **tool["function"]} for tool in TOOLS]


def ask(model: str, *items: Item | str, **fields: Any) -> dict[str, Any]:
    """Return a request body; a string is a user message."""
    written = [{"role": "user", "content": item} if isinstance(item, str) else item for item in items]
    return {"model": model, "input": written, "tools": native_tools(), **fields}


def results_of(items: list[Item]) -> list[Item]:
    """Return the results of all calls."""
    return [
        {
            "type": "function_call_output",
            "call_id": item["call_id"],
            "output": json.dumps(run_tool(item["name"], json.loads(item["arguments"]))),
        }
        for item in items
        if item["type"] == "function_call"
    ]


def continued(body: dict[str, Any], items: list[Item]) -> dict[str, Any]:
    """Return the request of the next step: with the items of an answer, and the results of its calls."""
    return {**body, "input": [*body["input"], *items, *results_of(items)]}


def post(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    """Post a request."""
    return client.post("/responses", json=body)


def answered(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """Return the response to an accepted request, sent as the body says: streamed or not."""
    response = post(client, body)
    assert response.status_code == 200, response.text
    return response_in(response.text) if body.get("stream") else response.json()


def rejected(client: httpx.Client, body: dict[str, Any], status: int = 400) -> dict[str, Any]:
    """Return the error."""
    return rejected_by(client, "/responses", body, status)


def rejected_by(client: httpx.Client, path: str, body: dict[str, Any], status: int = 400) -> dict[str, Any]:
    """Return the error of a request to this path."""
    response = client.post(path, json=body)
    assert response.status_code == status, response.text
    found = response.json()
    assert list(found) == ["error"]
    assert list(found["error"]) == ["message", "type", "param", "code"]
    return found["error"]


def events_in(text: str) -> Iterator[dict[str, Any]]:
    """Return the events, whose names and numbers are checked."""
    for number, frame in enumerate(text.strip().split("\n\n")):
        name, data = frame.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert (event["type"], event["sequence_number"]) == (name.removeprefix("event: "), number)
        yield event


def response_in(text: str) -> dict[str, Any]:
    """Return the last response; its items are those that the events before make up."""
    *events, last = events_in(text)
    assert last["type"] in _ENDS
    items: list[Item] = []
    for event in events:
        if event["type"] == "response.output_item.added":
            assert event["output_index"] == len(items)
        elif event["type"] == "response.output_item.done":
            assert _told(events, event["item"]["id"]) == _content(event["item"])
            items.append(event["item"])
    assert [_plain(item) for item in items] == [_plain(item) for item in last["response"]["output"]]
    return {**last["response"], "output": items}


def _told(events: list[dict[str, Any]], item_id: str) -> str:
    """Return what the deltas of an item add up to."""
    return "".join(event["delta"] for event in events if event.get("item_id") == item_id and "delta" in event)


def _content(item: Item) -> str:
    """Return the texts of an item."""
    parts = item.get("content", []) + item.get("summary", [])
    return item.get("arguments", "") + "".join(part.get("text", part.get("refusal", "")) for part in parts)


def _plain(item: Item) -> Item:
    """Return an item without what is encrypted anew each time."""
    return {key: value for key, value in item.items() if key != "encrypted_content"}
