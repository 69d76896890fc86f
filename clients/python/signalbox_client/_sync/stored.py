"""What the server stores: runs, conversations and saves."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from signalbox_client import bodies
from signalbox_client._sync.run import Run
from signalbox_client._sync.server import Server
from signalbox_client.errors import foreign


class Runs:
    """The runs of the token's owner."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self, status: Sequence[str] = ()) -> Iterator[bodies.RunSummary]:
        """Iterate over runs, the newest first. To get only runs with certain statuses, pass these statuses."""
        return self._server.pages("/api/runs", "runs", {"status": [*status]})

    def trace(self, run_id: str) -> bodies.RunTrace:
        """Return a run with its attempts, tool calls and costs."""
        return self._server.json("GET", _path("runs", run_id))

    def follow(self, run_id: str, after: int = 0) -> Run:
        """Read the events of a run after event number `after`. Leaving the block does not stop the run."""
        request = self._server.request("GET", f"{_path('runs', run_id)}/events")
        return Run(self._server, request, cursor=f"{run_id}:{after}")

    def stop(self, run_id: str) -> bodies.StoppedRun:
        """Stop a run. The server keeps the answer so far."""
        return self._server.json("POST", f"{_path('runs', run_id)}/stop")

    def delete(self, run_id: str) -> None:
        """Stop a run that belongs to no conversation, and delete the run and its data."""
        self._server.json("DELETE", _path("runs", run_id))


class Conversations:
    """The conversations of the token's owner. A question with a `conversation_id` is added to that conversation."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self, search: str | None = None) -> Iterator[bodies.ConversationSummary]:
        """Iterate over conversations, the most recently used first. `search` is a text that they must contain."""
        return self._server.pages("/api/conversations", "conversations", {} if search is None else {"search": search})

    def get(self, conversation_id: str) -> bodies.Conversation:
        """Return a conversation with all its branches."""
        return self._server.json("GET", _path("conversations", conversation_id))

    def create(self, title: str | None = None, conversation_id: str | None = None) -> bodies.ConversationInfo:
        """Create an empty conversation, or return the existing conversation with this id."""
        body = {"id": conversation_id or uuid.uuid4().hex, **({} if title is None else {"title": title})}
        return self._server.json("POST", "/api/conversations", body=body)

    def rename(self, conversation_id: str, title: str) -> bodies.ConversationHead:
        """Set the title of a conversation."""
        return self._server.json("PATCH", _path("conversations", conversation_id), body={"title": title})

    def select(self, conversation_id: str, leaf_id: str) -> bodies.ConversationHead:
        """Select the branch that the next question continues. `leaf_id` is the id of its last node."""
        return self._server.json("PATCH", _path("conversations", conversation_id), body={"leaf_id": leaf_id})

    def export(self, conversation_id: str) -> str:
        """Return the selected branch as Markdown."""
        response = self._server.send("GET", f"{_path('conversations', conversation_id)}/export")
        if not response.headers.get("content-type", "").startswith("text/markdown"):
            raise foreign(response)
        return response.text

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its runs. Its active runs are stopped first. Its saves are kept."""
        self._server.json("DELETE", _path("conversations", conversation_id))


class Saves:
    """Snapshots of finished runs."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def create(
        self, run_id: str, title: str | None = None, data: Mapping[str, Any] | None = None
    ) -> bodies.SaveSummary:
        """Save a run. After `ConnectionLost`, check with `list` whether the save exists before you try again."""
        body = {"run_id": run_id, "data": {**(data or {})}, **({} if title is None else {"title": title})}
        return self._server.json("POST", "/api/saves", body=body, repeatable=False)

    def list(self) -> Iterator[bodies.SaveSummary]:
        """Iterate over all saves, the newest first."""
        return self._server.pages("/api/saves", "saves", {})

    def get(self, save_id: str) -> bodies.Save:
        """Return a save with its question, trace and events."""
        return self._server.json("GET", _path("saves", save_id))

    def events(self, save_id: str) -> Run:
        """Return the saved run, to read its events."""
        return Run(self._server, self._server.request("GET", f"{_path('saves', save_id)}/events"))

    def delete(self, save_id: str) -> None:
        """Delete a save. The saved run itself is kept."""
        self._server.json("DELETE", _path("saves", save_id))


def _path(kind: str, name: str) -> str:
    return f"/api/{kind}/{quote(name, safe='')}"
