"""A client of one conversation, with the requests that the provider received for it."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import DONE, Exchange, Script, ScriptedUpstream, call_chunk, chunk
from tests.support.stream_reader import ParsedStream, check_stream


@dataclass
class Answered:
    """An answer, and the ids of its run and message."""

    heard: ParsedStream
    run_id: str
    message_id: str


@dataclass
class ConversationClient:
    """A client of one conversation of an app."""

    app: RunningApp
    upstream: ScriptedUpstream
    id: str = "talk-1"

    def post(self, prompt: str | None = None, **body: Any) -> httpx.Response:
        asked = {"model": "openai/sim", "tools": [], "conversation_id": self.id, **body}
        headers = asked.pop("headers", None)
        if prompt is not None:
            asked["prompt"] = prompt
        return self.app.client.post("/api/chat/stream", json=asked, headers=headers)

    def ask(self, prompt: str | None = None, **body: Any) -> Answered:
        """Send a question, read to the end, and check the stream."""
        response = self.post(prompt, **body)
        assert response.status_code == 200, response.text
        assert response.headers["x-conversation-id"] == self.id
        heard = check_stream(response.content)
        return Answered(heard, response.headers["x-run-id"], response.headers["x-message-id"])

    def sent_messages(self, place: int = -1) -> list[tuple[str, Any]]:
        """Return role and content of the messages in one request to the provider."""
        return [(m["role"], m["content"]) for m in self.upstream.asked[place].body["messages"]]

    def get(self, path: str = "", **params: Any) -> httpx.Response:
        return self.app.client.get(f"/api/conversations/{self.id}{path}", params=params)

    def tree(self) -> dict[str, Any]:
        response = self.get()
        assert response.status_code == 200, response.text
        return response.json()

    def texts(self) -> list[str]:
        return [node["text"] for node in self.tree()["messages"]]


def start_conversation(start_app: StartApp, *scripts: Script, **given: Any) -> ConversationClient:
    """Start an app over these scripts, and return a client of a new conversation."""
    return ConversationClient(*start_app(*scripts, **given))


def broken_after(text: str) -> Script:
    """Make a script that sends some text, then an error inside the 200 response."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text(text)
        await exchange.send(b'data: {"error":{"code":400,"message":"Provider returned error"}}\n\n')
        await exchange.end()

    return script


def thinks_and_calls(arguments: str, detail: dict[str, Any]) -> Script:
    """Make a script that sends an opaque reasoning detail and calls calculate."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(chunk({"reasoning": "Let me see.", "reasoning_details": [detail]}))
        await exchange.send(call_chunk("calculate", arguments))
        await exchange.send(chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    return script
