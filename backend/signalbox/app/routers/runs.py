"""/api/runs: list, trace, replay and follow, stop, delete."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from signalbox.app.access import CallerDep, run_of
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import api_errors, json_response, replay_responses
from signalbox.app.openapi.response_types import Deleted, RunList, StoppedRun
from signalbox.app.request.paging import Before, Limit, cursor_at, cursor_in
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.request.run_filter import RunFilterDep
from signalbox.app.request.run_pages import RunPages, Summaries
from signalbox.app.run_stream import counted_resume, cursor_of, reject_repeated, resume
from signalbox.core.codes import Code
from signalbox.runs.trace import RunTrace, trace_of

router = APIRouter(prefix="/api/runs", tags=["runs"], route_class=KnownParameters)


@router.get("", response_model=None, responses={200: json_response(RunList), **api_errors()})
async def list_runs(
    services: ServicesDep, caller: CallerDep, wanted: RunFilterDep, limit: Limit = 50, before: Before = None
) -> RunList:
    """List the newest runs that match, including active ones. The operator gets the runs of all owners."""
    pages = RunPages(services, await Summaries.for_caller(services, caller), wanted, cursor_in(before))
    shown = await pages.next_page(limit)
    following = cursor_at(*pages.before) if pages.before and not pages.is_over else None
    return {"runs": shown, "next": following, "all_owners": caller.is_operator}


@router.get("/{run_id}", response_model=None, responses={200: json_response(RunTrace), **api_errors(Code.UNKNOWN_RUN)})
async def get_run(run_id: str, services: ServicesDep, caller: CallerDep) -> RunTrace:
    """Return a run's trace. It contains no text of the conversation."""
    record = await run_of(run_id, services.runs, caller)
    live = services.runs.live(run_id)
    trace = trace_of(record, await services.runs.events(run_id), subscribers=live.subscribers if live else 0)
    return (await Summaries.for_caller(services, caller)).with_owner(trace, record)


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

    async def events() -> Response:
        await run_of(run_id, services.runs, caller)
        reject_repeated(request, "Last-Event-ID")
        return await resume(run_id, services, caller, after=cursor_of(run_id, after, last_event_id), follow=follow)

    return await counted_resume(events(), services)
