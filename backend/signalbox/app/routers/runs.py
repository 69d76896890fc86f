"""/api/runs: list, trace, replay and follow, stop, delete."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Header, Query, Request, Response

from signalbox.app.access import Caller, CallerDep, run_of
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import api_errors, json_response, replay_responses
from signalbox.app.openapi.response_types import Deleted, RunList, StoppedRun
from signalbox.app.request.paging import Before, Limit, cursor_at, cursor_in
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.run_stream import cursor_of, reject_repeated, resume
from signalbox.core.codes import Code
from signalbox.core.events import Status
from signalbox.core.records import RunRecord, Statuses
from signalbox.runs.trace import Owner, RunSummary, RunTrace, summary_of, trace_of
from signalbox.store.tokens import list_tokens

Run = TypeVar("Run", RunSummary, RunTrace)

router = APIRouter(prefix="/api/runs", tags=["runs"], route_class=KnownParameters)

Wanted = Annotated[
    list[Literal[Status, "running"]] | None,
    Query(description="Only runs of this status. Repeat it to select several."),
]


@router.get("", response_model=None, responses={200: json_response(RunList), **api_errors()})
async def list_runs(
    services: ServicesDep, caller: CallerDep, limit: Limit = 50, before: Before = None, status: Wanted = None
) -> RunList:
    """List the newest runs, including active ones. The operator gets the runs of all owners."""
    wanted: Statuses = frozenset(None if one == "running" else one for one in status or ())
    owner = None if caller.is_operator else caller.owner
    records = await services.runs.recent(limit + 1, cursor_in(before), owner, wanted)
    last = records[limit - 1] if len(records) > limit else None
    following = cursor_at(last.started, last.id) if last else None
    owners = await _owners(services, caller)
    shown = [one for one in records[:limit] if not wanted or one.status in wanted]  # a run may have ended since
    summaries = [_with_owner(summary_of(one), one, owners) for one in shown]
    return {"runs": summaries, "next": following, "all_owners": caller.is_operator}


@router.get("/{run_id}", response_model=None, responses={200: json_response(RunTrace), **api_errors(Code.UNKNOWN_RUN)})
async def get_run(run_id: str, services: ServicesDep, caller: CallerDep) -> RunTrace:
    """Return a run's trace. It contains no text of the conversation."""
    record = await run_of(run_id, services.runs, caller)
    live = services.runs.live(run_id)
    trace = trace_of(record, await services.runs.events(run_id), subscribers=live.subscribers if live else 0)
    return _with_owner(trace, record, await _owners(services, caller))


@router.delete(
    "/{run_id}",
    response_model=None,
    responses={
        200: json_response(Deleted),
        **api_errors(Code.UNKNOWN_RUN, Code.RUN_IN_CONVERSATION, Code.WORKER_SILENT),
    },
)
async def delete_run(run_id: str, services: ServicesDep, caller: CallerDep) -> Deleted:
    """Stop a run and delete everything stored about it.

    An answer in a conversation is deleted with its conversation.
    """
    await run_of(run_id, services.runs, caller)
    await services.runs.delete(run_id)
    return {"deleted": True}


@router.post(
    "/{run_id}/stop",
    response_model=None,
    responses={200: json_response(StoppedRun), **api_errors(Code.UNKNOWN_RUN, Code.WORKER_SILENT)},
)
async def stop_run(run_id: str, services: ServicesDep, caller: CallerDep) -> StoppedRun:
    """Stop a run, its upstream request and its tools. A run that is already over does not change."""
    await run_of(run_id, services.runs, caller)
    record, was_stopped = await services.runs.stop(run_id)
    return {"run_id": run_id, "stopped": was_stopped, "status": record.status or "running"}


@router.get("/{run_id}/events", response_model=None, responses=replay_responses(Code.UNKNOWN_RUN))
async def get_run_events(
    run_id: str,
    request: Request,
    services: ServicesDep,
    caller: CallerDep,
    *,
    after: Annotated[int, Query(ge=0)] = 0,
    follow: bool = True,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Replay a run's events after a cursor and follow it to its end. `Last-Event-ID` takes precedence over `after`.

    With `follow=false` the response ends with the events so far.
    """
    await run_of(run_id, services.runs, caller)
    reject_repeated(request, "Last-Event-ID")
    return await resume(run_id, services, caller, after=cursor_of(run_id, after, last_event_id), follow=follow)


async def _owners(services: Services, caller: Caller) -> Mapping[str, str] | None:
    """Return the names of all tokens for the operator, None for other clients."""
    if not caller.is_operator:
        return None
    return {token.id: token.name for token in await services.database.read(list_tokens)}


def _with_owner(run: Run, record: RunRecord, owners: Mapping[str, str] | None) -> Run:
    """Add the owner, for the operator; null if the run was started without an API token."""
    if owners is not None:
        owner: Owner | None = {"id": record.owner, "name": owners.get(record.owner)} if record.owner else None
        run["owner"] = owner
    return run
