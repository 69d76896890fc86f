"""What the server stores: runs, conversations and saves."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from signalbox_client import bodies
from signalbox_client._async.run import AsyncRun
from signalbox_client._async.server import AsyncServer
from signalbox_client.errors import foreign


class AsyncRuns:
    """The runs of the token's owner."""

    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    def list(self, status: Sequence[str] = ()) -> AsyncIterator[bodies.RunSummary]:
        """Iterate over runs, the newest first. To get only runs with certain statuses, pass these statuses."""
        return self._server.pages("/api/runs", "runs", {"status": [*status]})

    async def trace(self, run_id: str) -> bodies.RunTrace:
        """Return a run with its attempts, tool calls and costs."""
        return await self._server.json("GET", _path("runs", run_id))

    def follow(self, run_id: str, after: int = 0) -> AsyncRun:
        """Read the events of a run after event number `after`. Leaving the block does not stop the run."""
        request = self._server.request("GET", f"{_path('runs', run_id)}/events")
        return AsyncRun(self._server, request, cursor=f"{run_id}:{after}")

    async def stop(self, run_id: str) -> bodies.StoppedRun:
        """Stop a run. The server keeps the answer so far."""
        return await self._server.json("POST", f"{_path('runs', run_id)}/stop")

    async def delete(self, run_id: str) -> None:
        """Stop a run that belongs to no conversation, and delete the run and its data."""
        await self._server.json("DELETE", _path("runs", run_id))


class AsyncConversations:
    """The conversations of the token's owner. A question with a `conversation_id` is added to that conversation."""

    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    def list(self, search: str | None = None) -> AsyncIterator[bodies.ConversationSummary]:
        """Iterate over conversations, the most recently used first. `search` is a text that they must contain."""
        return self._server.pages("/api/conversations", "conversations", {} if search is None else {"search": search})

    async def get(self, conversation_id: str) -> bodies.Conversation:
        """Return a conversation with all its branches."""
        return await self._server.json("GET", _path("conversations", conversation_id))

    async def create(self, title: str | None = None, conversation_id: str | None = None) -> bodies.ConversationInfo:
        """Create an empty conversation, or return the existing conversation with this id."""
        body = {"id": conversation_id or uuid.uuid4().hex, **({} if title is None else {"title": title})}
        return await self._server.json("POST", "/api/conversations", body=body)

    async def rename(self, conversation_id: str, title: str) -> bodies.ConversationHead:
        """Set the title of a conversation."""
        return await self._server.json("PATCH", _path("conversations", conversation_id), body={"title": title})

    async def select(self, conversation_id: str, leaf_id: str) -> bodies.ConversationHead:
        """Select the branch that the next question continues. `leaf_id` is the id of its last node."""
        return await self._server.json("PATCH", _path("conversations", conversation_id), body={"leaf_id": leaf_id})

    async def export(self, conversation_id: str) -> str:
        """Return the selected branch as Markdown."""
        response = await self._server.send("GET", f"{_path('conversations', conversation_id)}/export")
        if not response.headers.get("content-type", "").startswith("text/markdown"):
            raise foreign(response)
        return response.text

    async def delete(self, conversation_id: str) -> None:
        """Delete a conversation with its runs. Its active runs are stopped first. Its saves are kept."""
        await self._server.json("DELETE", _path("conversations", conversation_id))


class AsyncSaves:
    """Snapshots of finished runs."""

    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    async def create(
        self, run_id: str, title: str | None = None, data: Mapping[str, Any] | None = None
    ) -> bodies.SaveSummary:
        """Save a run. After `ConnectionLost`, check with `list` whether the save exists before you try again."""
        body = {"run_id": run_id, "data": {**(data or {})}, **({} if title is None else {"title": title})}
        return await self._server.json("POST", "/api/saves", body=body, repeatable=False)

    def list(self) -> AsyncIterator[bodies.SaveSummary]:
        """Iterate over all saves, the newest first."""
        return self._server.pages("/api/saves", "saves", {})

    async def get(self, save_id: str) -> bodies.Save:
        """Return a save with its question, trace and events."""
        return await self._server.json("GET", _path("saves", save_id))

    def events(self, save_id: str) -> AsyncRun:
        """Return the saved run, to read its events."""
        return AsyncRun(self._server, self._server.request("GET", f"{_path('saves', save_id)}/events"))

    async def delete(self, save_id: str) -> None:
        """Delete a save. The saved run itself is kept."""
        await self._server.json("DELETE", _path("saves", save_id))


def _path(kind: str, name: str) -> str:
    return f"/api/{kind}/{quote(name, safe='')}"
