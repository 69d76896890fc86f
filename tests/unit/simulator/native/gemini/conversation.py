"""Requests to the simulator's Gemini API, and its answers."""

import json
from typing import Any

import httpx

SEARCH = {
    "name": "search_web",
    "description": "Search the web.",
    "parameters": {"type": "OBJECT", "properties": {"query": {"type": "STRING"}}, "required": ["query"]},
}
CALCULATE = {
    "name": "calculate",
    "description": "Calculate.",
    "parameters": {"type": "OBJECT", "properties": {"expression": {"type": "STRING"}}, "required": ["expression"]},
}
CLOCK = {
    "name": "get_current_time",
    "description": "Read the clock.",
    "parameters": {"type": "OBJECT", "properties": {"timezone": {"type": "STRING"}}},
}
TOOLS = [{"functionDeclarations": [SEARCH, CALCULATE, CLOCK]}]
THOUGHTS = {"thinkingConfig": {"includeThoughts": True}}
QUESTION = "Search for the tool loop"
Json = dict[str, Any]


def user(text: str = QUESTION) -> Json:
    """Return a user's content."""
    return {"role": "user", "parts": [{"text": text}]}


def results(*calls: Json, value: str = "A step is one model call.") -> Json:
    """Return the results of function calls, in their order."""
    parts = [{"functionResponse": {**_id(call), "name": call["name"], "response": {"output": value}}} for call in calls]
    return {"role": "user", "parts": parts}


def _id(call: Json) -> Json:
    return {"id": call["id"]} if "id" in call else {}


def asked(*contents: Json, tools: list[Json] | None = TOOLS, **fields: Any) -> Json:
    """Return a request body."""
    return {"contents": list(contents) or [user()], **({"tools": tools} if tools else {}), **fields}


def post(gemini: httpx.Client, model: str, body: Any, *, stream: bool = True, alt: str = "sse") -> httpx.Response:
    """Post a request, streamed or not."""
    method = f"streamGenerateContent?alt={alt}" if stream else "generateContent"
    return gemini.post(f"/models/{model}:{method}", json=body)


def objects(response: httpx.Response) -> list[Json]:
    """Return the objects of a stream, or the one object of a whole answer."""
    assert response.status_code == 200, response.text
    if not response.headers["content-type"].startswith("text/event-stream"):
        return [response.json()]
    events = response.content.split(b"\r\n\r\n")
    assert events.pop() == b""
    assert all(event.startswith(b"data: ") for event in events)
    return [json.loads(event.removeprefix(b"data: ")) for event in events]


def parts(received: list[Json]) -> list[Json]:
    """Return all parts of an answer."""
    return [part for one in received for part in one["candidates"][0]["content"].get("parts", [])]


def text(received: list[Json]) -> str:
    """Return the text of an answer, without thoughts."""
    return "".join(part.get("text", "") for part in parts(received) if not part.get("thought"))


def calls(received: list[Json]) -> list[Json]:
    """Return the function calls of an answer."""
    return [part["functionCall"] for part in parts(received) if "functionCall" in part]


def finish(received: list[Json]) -> str:
    """Return the finish reason, which only the last object has."""
    reasons = [one["candidates"][0].get("finishReason") for one in received]
    assert reasons[:-1] == [None] * (len(reasons) - 1)
    assert reasons[-1]
    return reasons[-1]


def model_turn(received: list[Json]) -> Json:
    """Return an answer as the content that goes into the next request, without its thoughts."""
    kept = [part for part in parts(received) if not part.get("thought")]
    return {"role": "model", "parts": kept}
