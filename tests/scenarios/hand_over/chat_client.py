"""A client of /v1/chat/completions that executes a tool, and sends its whole history or only what is new."""

import json
from typing import Any

import httpx

from tests.support.running_app import RunningApp

Json = dict[str, Any]

QUESTION = "What is 6 * 7, what time is it in Tokyo, and how do tool calls stream?"
CLOCK: Json = {
    "type": "function",
    "function": {
        "name": "wall_clock",
        "description": "Read the clock on the user's wall.",
        "parameters": {"type": "object", "properties": {"timezone": {"type": "string"}}, "required": []},
    },
}
TOOLS: list[Json] = [CLOCK, {"type": "signalbox:calculate"}, {"type": "signalbox:search_web"}]


def user(text: str) -> Json:
    """Return a user message."""
    return {"role": "user", "content": text}


def results(message: Json, *contents: str) -> list[Json]:
    """Return the results of a message's calls."""
    pairs = zip(message["tool_calls"], contents, strict=True)
    return [{"role": "tool", "tool_call_id": call["id"], "content": content} for call, content in pairs]


def message_in(stream: str) -> Json:
    """Put the message of a stream together, as a client does."""
    frames = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: {")]
    found: dict[int, Json] = {}
    for delta in (choice["delta"] for frame in frames for choice in frame["choices"]):
        for call in delta.get("tool_calls") or ():
            known = found.setdefault(call["index"], {"function": {"arguments": ""}})
            known.update({name: value for name, value in call.items() if name in ("id", "type")})
            known["function"]["name"] = call["function"].get("name", known["function"].get("name"))
            known["function"]["arguments"] += call["function"]["arguments"]
    return {"role": "assistant", "content": None, "tool_calls": [found[index] for index in sorted(found)]}


class ChatClient:
    """Sends messages with the same model, tools and headers."""

    def __init__(self, app: RunningApp, model: str = "anthropic/sim-parallel", **headers: str) -> None:
        self.app, self.model = app, model
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def post(self, *messages: Json, **fields: Any) -> httpx.Response:
        """Send a request."""
        headers = self.headers | fields.pop("headers", {})
        body = {"model": self.model, "messages": messages, "tools": TOOLS, "reasoning_effort": "high", **fields}
        return self.app.client.post("/v1/chat/completions", json=body, headers=headers)

    def send(self, *messages: Json, **fields: Any) -> Json:
        """Send a request and return the answer's message."""
        response = self.post(*messages, **fields)
        assert response.status_code == 200, response.text
        return response.json()["choices"][0]["message"]

    def rejected(self, *messages: Json, **fields: Any) -> Json:
        """Send a request that is malformed; return OpenAI's error object."""
        response = self.post(*messages, **fields)
        assert (response.status_code, [*response.json()]) == (400, ["error"]), response.text
        return response.json()["error"]

    # --- the conversation -------------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[Json]:
        """The nodes of the conversation in order of creation."""
        found = self.app.client.get(f"/api/conversations/{self.headers['x-conversation-id']}", headers=self.headers)
        assert found.status_code == 200, found.text
        return found.json()["messages"]

    def branch(self) -> list[str]:
        """Check that the conversation is one straight branch; return what each node is."""
        nodes = self.nodes
        assert [node["parent_id"] for node in nodes] == [None, *(node["id"] for node in nodes[:-1])]
        return [kind_of(node) for node in nodes]


def kind_of(node: Json) -> str:
    """Return what a node is: a question, results, a run's answer, or an answer that the client brought."""
    if node["role"] == "user":
        return "question"
    return "answer" if "run_id" in node else "results" if "results" in node else "brought"
