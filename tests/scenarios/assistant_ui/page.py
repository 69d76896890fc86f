"""A page built with assistant-ui, without its React part: sends commands, and applies the operations to its state."""

from typing import Any

import httpx

from tests.support.assistant_client import state_after
from tests.support.running_app import RunningApp

MODEL = "openai/sim"


def message(text: str, **position: Any) -> dict[str, Any]:
    """Return the command that adds a message."""
    return {"type": "add-message", "message": {"role": "user", "parts": [{"type": "text", "text": text}]}, **position}


class Page:
    """A page with one thread; `state` is what its client shows."""

    def __init__(self, app: RunningApp, thread_id: str | None = "__LOCALID_abcdefg", **fields: Any) -> None:
        self.app = app
        self.fields = {"model": MODEL, "threadId": thread_id, **fields}
        self.state: dict[str, Any] = {"messages": []}

    def post(self, *commands: dict[str, Any], **fields: Any) -> httpx.Response:
        """Send commands, with the state as the client does."""
        body = {**self.fields, "state": self.state, "commands": [*commands], **fields}
        return self.app.client.post("/assistant", json=body)

    def send(self, *commands: dict[str, Any], **fields: Any) -> dict[str, Any]:
        """Send commands; return the state after the response."""
        return self.show(self.post(*commands, **fields))

    def show(self, response: httpx.Response) -> dict[str, Any]:
        """Apply the operations of a response; return the state after it."""
        assert response.status_code == 200, response.text
        self.state = state_after(response.text.split("\n")[:-1], self.state)
        return self.state

    def ask(self, text: str, **position: Any) -> dict[str, Any]:
        """Send a message after the last one that is shown, as the client does."""
        last = self.messages[-1]["id"] if self.messages else None
        return self.send(message(text, **{"parentId": last, "sourceId": None, **position}))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that are shown."""
        return self.state["messages"]

    @property
    def texts(self) -> list[str]:
        """The texts of the user and of the model, in order."""
        return [
            "".join(part["text"] for part in one["content"] if part["type"] == "text")
            for one in self.messages
            if one["type"] != "tool"
        ]
