"""An agent of AG-UI: keeps its messages and state as the client does, and sends all of them each time."""

from itertools import count
from typing import Any

import httpx

from tests.support.ag_ui_client import AgUiReader, Json
from tests.support.running_app import RunningApp

PATH = "/agui"


class Agent:
    """One thread. `props` are the `forwardedProps` of each run."""

    def __init__(self, app: RunningApp, thread_id: str = "thread-1", headers: Json | None = None, **props: Any) -> None:
        self.app = app
        self.id = thread_id
        self.headers = headers or {}
        self.props = {"model": "openai/sim", **props}
        self.tools: list[Json] = []
        self.messages: list[Json] = []
        self.state: Any = {}
        self._ids = count(1)

    def request(self, **body: Any) -> Json:
        """Return the body of a run."""
        own = {"threadId": self.id, "runId": f"run-{next(self._ids)}", "protocolVersion": "1.0", "state": self.state}
        history = {"messages": self.messages, "tools": self.tools, "context": [], "forwardedProps": self.props}
        return {**own, **history, **body}

    def post(self, **body: Any) -> httpx.Response:
        return self.app.client.post(PATH, json=self.request(**body), headers=self.headers)

    def send(self, content: str | list[Json], **body: Any) -> AgUiReader:
        """Send a message, and read the answer."""
        self.add(content)
        return self.run(**body)

    def add(self, content: str | list[Json]) -> None:
        """Add a message of the user."""
        self.messages.append({"id": f"{self.id}-msg-{next(self._ids)}", "role": "user", "content": content})

    def run(self, **body: Any) -> AgUiReader:
        """Run the agent on its messages."""
        response = self.post(**body)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        return self.receive(response.content)

    def receive(self, stream: bytes) -> AgUiReader:
        """Read a stream into the messages and the state."""
        reader = AgUiReader(self.messages, self.state).read_stream(stream)
        self.state = reader.state
        return reader

    def add_results(self, reader: AgUiReader, content: Any, **fields: Any) -> None:
        """Answer the calls that are the client's."""
        for call_id in reader.pending:
            result = {"id": f"result-{call_id}", "role": "tool", "toolCallId": call_id, "content": content}
            self.messages.append({**result, **fields})

    def drop_answer(self) -> None:
        """Drop everything behind the last message that the client made."""
        while "msg" not in self.messages[-1]["id"] and not self.messages[-1]["id"].startswith("result-"):
            self.messages.pop()

    def edit(self, place: int, text: str) -> AgUiReader:
        """Replace a message of the user, drop all messages behind it, and read the answer."""
        del self.messages[place:]
        return self.send(text)
