"""The runs that the server stores."""

from collections.abc import Generator, Iterator, Sequence
from typing import Unpack

from signalbox_client import bodies
from signalbox_client._sync.run import Run
from signalbox_client._sync.server import Server
from signalbox_client.paths import path_of
from signalbox_client.queries import run_query


class Runs:
    """The runs of the token's owner."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(
        self, status: str | Sequence[str] = (), **filters: Unpack[bodies.RunFilter]
    ) -> Iterator[bodies.RunSummary]:
        """Iterate over the runs that match all filters, the newest first. The client reads them page by page."""
        return self._server.pages("/api/runs", "runs", run_query(status, filters))

    def export(
        self, status: str | Sequence[str] = (), **filters: Unpack[bodies.RunFilter]
    ) -> Generator[bodies.RunSummary]:
        """Iterate over the same runs as `list`, but read them from one response.

        If the connection breaks, the iterator raises `ConnectionLost`, because an export cannot be resumed.
        """
        return self._server.lines("/api/runs.ndjson", run_query(status, filters))

    def stats(
        self, bucket: int = 3600, *, status: str | Sequence[str] = (), **filters: Unpack[bodies.RunFilter]
    ) -> bodies.RunStatsList:
        """Count the runs that match all filters by time and loop. `bucket` is the length of a bucket in seconds.

        Without `since`, the statistics begin a day before `until`. Without `until`, they end now.
        """
        query = {"bucket": bucket, **run_query(status, filters)}
        return self._server.json("GET", "/api/run-stats", "buckets", params=query)

    def trace(self, run_id: str) -> bodies.RunTrace:
        """Return a run with its attempts, tool calls and costs."""
        return self._server.json("GET", path_of("runs", run_id))

    def follow(self, run_id: str, after: int = 0) -> Run:
        """Read the events of a run after event number `after`. Leaving the block does not stop the run."""
        request = self._server.request("GET", path_of("runs", run_id, "events"))
        return Run(self._server, request, cursor=f"{run_id}:{after}")

    def stop(self, run_id: str) -> bodies.StoppedRun:
        """Stop a run. The server keeps the answer so far."""
        return self._server.json("POST", path_of("runs", run_id, "stop"))

    def delete(self, run_id: str) -> None:
        """Stop a run that belongs to no conversation, and delete the run and its data."""
        self._server.json("DELETE", path_of("runs", run_id))
