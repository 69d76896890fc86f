"""The snapshots that the server stores."""

from collections.abc import Iterator, Mapping
from typing import Any

from signalbox_client import bodies
from signalbox_client._sync.run import Run
from signalbox_client._sync.server import Server
from signalbox_client.paths import path_of


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
        return self._server.json("GET", path_of("saves", save_id))

    def events(self, save_id: str) -> Run:
        """Return the saved run, to read its events."""
        return Run(self._server, self._server.request("GET", path_of("saves", save_id, "events")))

    def delete(self, save_id: str) -> None:
        """Delete a save. The saved run itself is kept."""
        self._server.json("DELETE", path_of("saves", save_id))
