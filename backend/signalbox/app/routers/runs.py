"""Runs: list, trace, replay and follow, stop, delete."""

from collections.abc import Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request, Response

from signalbox.app.access import Who, WhoDep, run_of
from signalbox.app.deps import Parts, PartsDep
from signalbox.app.openapi_examples import STREAM_ANSWERS
from signalbox.app.request.paging import Before, Limit, cursor_at, cursor_in
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.run_stream import cursor_of, refuse_twins, resume
from signalbox.core.events import Status
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.records import RunRecord, Statuses
from signalbox.runs.trace import summary_of, trace_of
from signalbox.store.tokens import list_tokens

router = APIRouter(prefix="/api/runs", tags=["runs"], route_class=KnownParameters)

Wanted = Annotated[
    list[Literal[Status, "running"]] | None,
    Query(description="Only runs of this status; it may be there several times, for each of several"),
]


@router.get("", response_model=None)
async def list_runs(
    parts: PartsDep, who: WhoDep, limit: Limit = 50, before: Before = None, status: Wanted = None
) -> JsonObject:
    """List your newest runs, running ones too. The operator gets the runs of all owners.

    `next` is the `before` of the next page; `all_owners` tells whether it has the runs of all owners.
    """
    wanted: Statuses = frozenset(None if one == "running" else one for one in status or ())
    owner = None if who.is_operator else who.owner
    records = await parts.runs.recent(limit + 1, cursor_in(before), owner, wanted)
    last = records[limit - 1] if len(records) > limit else None
    following = cursor_at(last.started, last.id) if last else None
    owners = await _owners(parts, who)
    shown = [one for one in records[:limit] if not wanted or one.status in wanted]  # one may have ended just now
    lines: list[JsonValue] = [{**summary_of(one), **_whose(one, owners)} for one in shown]
    return {"runs": lines, "next": following, "all_owners": who.is_operator}


@router.get("/{run_id}", response_model=None)
async def get_run(run_id: str, parts: PartsDep, who: WhoDep) -> JsonObject:
    """Return a run's trace; texts of the conversation are not in it."""
    record = await run_of(run_id, parts.runs, who)
    live = parts.runs.live(run_id)
    trace = trace_of(record, await parts.runs.events(run_id), subscribers=live.subscribers if live else 0)
    return {**trace, **_whose(record, await _owners(parts, who))}


@router.delete("/{run_id}", response_model=None)
async def delete_run(run_id: str, parts: PartsDep, who: WhoDep) -> JsonObject:
    """Stop a run and delete everything stored about it. Answers in conversations are deleted with those."""
    await run_of(run_id, parts.runs, who)
    await parts.runs.delete(run_id)
    return {"deleted": True}


@router.post("/{run_id}/stop", response_model=None)
async def stop_run(run_id: str, parts: PartsDep, who: WhoDep) -> JsonObject:
    """Stop a run: upstream and tools end at once. A run that is already over stays as it is."""
    await run_of(run_id, parts.runs, who)
    record, was_stopped = await parts.runs.stop(run_id)
    return {"run_id": run_id, "stopped": was_stopped, "status": record.status or "running"}


@router.get("/{run_id}/events", response_model=None, responses={**STREAM_ANSWERS, 204: {"description": "All was seen"}})
async def follow_run(
    run_id: str,
    request: Request,
    parts: PartsDep,
    who: WhoDep,
    *,
    after: Annotated[int, Query(ge=0)] = 0,
    follow: bool = True,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Replay a run's events behind a cursor and follow it to its end; `Last-Event-ID` goes before `after`.

    With `follow=false` the answer ends with what there is by now.
    """
    await run_of(run_id, parts.runs, who)
    refuse_twins(request, "Last-Event-ID")
    return await resume(run_id, parts, who, after=cursor_of(run_id, after, last_event_id), follow=follow)


async def _owners(parts: Parts, who: Who) -> Mapping[str, str] | None:
    """Return the names of all tokens to the operator, None to anybody else."""
    if not who.is_operator:
        return None
    return {token.id: token.name for token in await parts.database.read(list_tokens)}


def _whose(record: RunRecord, owners: Mapping[str, str] | None) -> JsonObject:
    """Tell the operator whose a run is: null where it was asked for without an API token."""
    if owners is None:
        return {}
    return {"owner": {"id": record.owner, "name": owners.get(record.owner)} if record.owner else None}
