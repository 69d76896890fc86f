"""/api/runs.ndjson and /api/run-stats: export the runs that match a filter, and their statistics."""

from collections.abc import AsyncGenerator, Mapping
from time import time
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from msgspec import json, to_builtins
from msgspec.structs import replace
from starlette.types import Receive, Scope, Send

from signalbox.app.access import CallerDep
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.openapi.response_types import RunStatsList, StatsBucket
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.request.run_filter import RunFilterDep
from signalbox.app.request.run_pages import RunPages, Summaries
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.runs.trace import RunSummary
from signalbox.store.runs.run_stats import RunStats, run_stats

router = APIRouter(tags=["runs"], route_class=KnownParameters)

_PAGE = 500
_DAY_SECONDS = 86_400.0
_MOST_BUCKETS = 500
_NDJSON = "application/x-ndjson"
_encode = json.Encoder().encode
_EXPORT = {
    200: {
        "description": "One run per line, as in `GET /api/runs`, the newest first.",
        "content": {_NDJSON: {"schema": {"type": "string"}}},
    }
}

Bucket = Annotated[int, Query(ge=1, le=31 * 86_400, description="The length of a bucket in seconds.")]


class _Export(StreamingResponse):
    """A response that closes its lines when it ends, also because the client has left."""

    def __init__(self, lines: AsyncGenerator[bytes, None], headers: Mapping[str, str]) -> None:
        super().__init__(lines, media_type=_NDJSON, headers=headers)
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._lines.aclose()


@router.get("/api/runs.ndjson", response_model=None, responses={**_EXPORT, **api_errors()})
async def export_runs(services: ServicesDep, caller: CallerDep, wanted: RunFilterDep) -> StreamingResponse:
    """Export all runs that match, including active ones, as one JSON object per line."""
    pages = RunPages(services, await Summaries.for_caller(services, caller), wanted)
    first = await pages.next_page(_PAGE)  # an unavailable database is an error response, not a broken stream
    headers = {"content-disposition": 'attachment; filename="runs.ndjson"'}
    return _Export(_lines(pages, first), headers)


async def _lines(pages: RunPages, first: list[RunSummary]) -> AsyncGenerator[bytes, None]:
    """Yield the lines page by page; the next page is read once the client has taken the last one."""
    page = first
    while page:
        yield b"".join(_encode(run) + b"\n" for run in page)
        page = await pages.next_page(_PAGE)


@router.get("/api/run-stats", response_model=None, responses={200: json_response(RunStatsList), **api_errors()})
async def get_run_stats(
    services: ServicesDep, caller: CallerDep, wanted: RunFilterDep, bucket: Bucket = 3600
) -> RunStatsList:
    """Count the runs that match by time, loop and status, with percentiles of their times and their cost.

    Without `since`, the day before `until`; without `until`, up to now.
    """
    until = time() if wanted.until is None else wanted.until
    since = until - _DAY_SECONDS if wanted.since is None else wanted.since
    _check_buckets(since, until, bucket)
    found = await services.database.read(run_stats, replace(wanted, since=since, until=until), bucket)
    return {
        "since": since,
        "until": until,
        "bucket_seconds": bucket,
        "all_owners": caller.is_operator,
        "buckets": [_bucket(stats) for stats in found],
    }


def _check_buckets(since: float, until: float, bucket: int) -> None:
    count = until // bucket - since // bucket + 1
    if count > _MOST_BUCKETS:
        words = f"That is {count:,.0f} buckets, more than {_MOST_BUCKETS}. Send a larger bucket or a shorter time."
        raise RequestError(Code.INVALID_REQUEST, words, "bucket")


def _bucket(stats: RunStats) -> StatsBucket:
    statuses = {status or "running": count for status, count in sorted(stats.statuses.items(), key=_by_name)}
    return {
        "start": stats.start,
        "loop": stats.loop,
        "runs": sum(statuses.values()),
        "statuses": statuses,
        "at_limit": stats.at_limit,
        "first_token_ms": to_builtins(stats.first_token_ms),
        "duration_ms": to_builtins(stats.duration_ms),
        "cost": stats.cost,
    }


def _by_name(item: tuple[str | None, int]) -> str:
    return item[0] or "running"
