"""A chat of the AI SDK: keeps its messages as the client does, and sends all of them each time."""

from itertools import count
from typing import Any
from urllib.parse import quote

import httpx

from tests.support.running_app import RunningApp
from tests.support.ui_message import UiMessageReader

PATH = "/api/ai/chat"
Json = dict[str, Any]


class UiChat:
    """One chat with its messages."""

    def __init__(self, app: RunningApp, chat_id: str = "chat-1", headers: Json | None = None, **body: Any) -> None:
        self.app = app
        self.id = chat_id
        self.headers = headers or {}
        self.body = {"model": "openai/sim", **body}
        self.messages: list[Json] = []
        self._ids = count(1)

    @property
    def url(self) -> str:
        return f"{PATH}/{quote(self.id, safe='')}"

    def request(self, **body: Any) -> Json:
        """Return the body that the client posts."""
        return {"id": self.id, "messages": self.messages, "trigger": "submit-message", **self.body, **body}

    def post(self, **body: Any) -> httpx.Response:
        return self.app.client.post(PATH, json=self.request(**body), headers=self.headers)

    def send(self, text: str, **body: Any) -> UiMessageReader:
        """Send a message, and read the answer."""
        self.add(text)
        return self.answer(**body)

    def add(self, text: str) -> None:
        """Add a message of the user."""
        part = {"type": "text", "text": text}
        self.messages.append({"id": f"{self.id}-msg-{next(self._ids)}", "role": "user", "parts": [part]})

    def answer(self, **body: Any) -> UiMessageReader:
        """Post the messages, and add the answer to them or to the last one."""
        response = self.post(**body)
        assert response.status_code == 200, response.text
        return self.receive(response.content)

    def receive(self, stream: bytes) -> UiMessageReader:
        """Read a stream into the messages."""
        message = UiMessageReader().read_stream(stream)
        last = self.messages[-1]
        if last["id"] == message.id:
            last["parts"] += message.parts
        else:
            self.messages.append({"id": message.id, "role": "assistant", "parts": message.parts})
        return message

    def edit(self, place: int, text: str) -> UiMessageReader:
        """Replace a message of the user, drop all messages behind it, and read the answer."""
        self.messages[place] = {**self.messages[place], "parts": [{"type": "text", "text": text}]}
        del self.messages[place + 1 :]
        return self.answer(messageId=self.messages[place]["id"])

    def regenerate(self) -> UiMessageReader:
        """Drop the last answer, and ask for another one."""
        self.messages.pop()
        return self.answer(trigger="regenerate-message")

    def add_output(self, output: Any) -> None:
        """Answer the handed calls of the last message."""
        for part in self.messages[-1]["parts"]:
            if part.get("state") == "input-available" and not part["providerExecuted"]:
                part |= {"state": "output-available", "output": output}
