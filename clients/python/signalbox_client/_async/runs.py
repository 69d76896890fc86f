"""The runs that the server stores."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Unpack

from signalbox_client import bodies
from signalbox_client._async.run import AsyncRun
from signalbox_client._async.server import AsyncServer
from signalbox_client.paths import path_of
from signalbox_client.queries import run_query


class AsyncRuns:
    """The runs of the token's owner."""

    def __init__(self, server: AsyncServer) -> None:
        self._server = server

    def list(
        self, status: str | Sequence[str] = (), **filters: Unpack[bodies.RunFilter]
    ) -> AsyncIterator[bodies.RunSummary]:
        """Iterate over the runs that match all filters, the newest first. The client reads them page by page."""
        return self._server.pages("/api/runs", "runs", run_query(status, filters))

    def export(
        self, status: str | Sequence[str] = (), **filters: Unpack[bodies.RunFilter]
    ) -> AsyncGenerator[bodies.RunSummary]:
        """Iterate over the same runs as `list`, but read them from one response.

        If the connection breaks, the iterator raises `ConnectionLost`, because an export cannot be resumed.
        """
        return self._server.lines("/api/runs.ndjson", run_query(status, filters))

    async def stats(
        self, bucket: int = 3600, *, status: str | Sequence[str] = (), **filters: Unpack[bodies.RunFilter]
    ) -> bodies.RunStatsList:
        """Count the runs that match all filters by time and loop. `bucket` is the length of a bucket in seconds.

        Without `since`, the statistics begin a day before `until`. Without `until`, they end now.
        """
        query = {"bucket": bucket, **run_query(status, filters)}
        return await self._server.json("GET", "/api/run-stats", "buckets", params=query)

    async def trace(self, run_id: str) -> bodies.RunTrace:
        """Return a run with its attempts, tool calls and costs."""
        return await self._server.json("GET", path_of("runs", run_id))

    def follow(self, run_id: str, after: int = 0) -> AsyncRun:
        """Read the events of a run after event number `after`. Leaving the block does not stop the run."""
        request = self._server.request("GET", path_of("runs", run_id, "events"))
        return AsyncRun(self._server, request, cursor=f"{run_id}:{after}")

    async def stop(self, run_id: str) -> bodies.StoppedRun:
        """Stop a run. The server keeps the answer so far."""
        return await self._server.json("POST", path_of("runs", run_id, "stop"))

    async def delete(self, run_id: str) -> None:
        """Stop a run that belongs to no conversation, and delete the run and its data."""
        await self._server.json("DELETE", path_of("runs", run_id))
