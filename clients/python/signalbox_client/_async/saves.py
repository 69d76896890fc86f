"""The snapshots that the server stores."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from signalbox_client import bodies
from signalbox_client._async.run import AsyncRun
from signalbox_client._async.server import AsyncServer
from signalbox_client.paths import path_of


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
        return await self._server.json("GET", path_of("saves", save_id))

    def events(self, save_id: str) -> AsyncRun:
        """Return the saved run, to read its events."""
        return AsyncRun(self._server, self._server.request("GET", path_of("saves", save_id, "events")))

    async def delete(self, save_id: str) -> None:
        """Delete a save. The saved run itself is kept."""
        await self._server.json("DELETE", path_of("saves", save_id))
