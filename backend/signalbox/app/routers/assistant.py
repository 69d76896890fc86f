"""/assistant: the state of a thread, and resuming, for assistant-ui; app/protocols.py has the endpoint that answers."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from signalbox.app.access import Caller, CallerDep, run_of
from signalbox.app.assistant_ui import state_at, state_before
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.assistant_ui import ERRORS, AssistantState, ResumeState, stream_responses
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.request_bodies import ResumeRun, ResumeThread
from signalbox.app.protocols import ASSISTANT, ClientProtocol
from signalbox.app.request.body import read_model
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.run_stream import counted_resume, opening_of, run_response
from signalbox.core.codes import Code
from signalbox.core.conversations import key_of
from signalbox.core.errors import RequestError
from signalbox.core.records import RunRecord
from signalbox.intakes.threads import LONGEST_THREAD_ID, conversation_id_of
from signalbox.store import conversations as stored
from signalbox.wire.json_text import dumps

REPLAY_HEADER = "aui-replay-content-length"
router = APIRouter(prefix="/assistant", tags=["assistant-ui"], route_class=KnownParameters)
_THREAD = Query(alias="threadId", min_length=1, max_length=LONGEST_THREAD_ID)
ThreadQuery = Annotated[str, _THREAD]
OptionalThreadQuery = Annotated[str | None, _THREAD]


@router.get("/state", response_model=None, responses={200: json_response(AssistantState), **api_errors()})
async def get_state(services: ServicesDep, caller: CallerDep, thread_id: ThreadQuery) -> Response:
    """Return the state of a thread, for the client's `initialState`; an unknown thread has no messages.

    If an answer is running, it ends before that answer and `run` names it: resume to receive the answer.
    """
    key = _key(thread_id, caller)
    run = await _running(key, services)
    state = await state_at(key, None, services) if run is None else (await state_before(run, services))[0]
    return Response(dumps(state), media_type="application/json")


@router.post(
    "/resume-state",
    response_model=None,
    responses={
        200: json_response(ResumeState),
        204: {"description": "No answer of the thread is running."},
        **api_errors(*BODY_ERRORS),
    },
    openapi_extra=json_body(ResumeThread),
)
async def post_resume_state(
    request: Request, services: ServicesDep, caller: CallerDep, thread_id: OptionalThreadQuery = None
) -> Response:
    """Return the running answer of a thread, for the client's `resumeStateApi`.

    `threadId` in the query goes before the one in the body, which the client makes anew when the page is loaded.
    """
    body = await read_model(request, ResumeThread, _limit(services))
    thread = thread_id or body.thread_id
    run = await _running(_key(thread, caller), services) if thread else None
    if run is None:
        return Response(status_code=204)
    state, _ = await state_before(run, services)
    return Response(dumps({"runId": run.id, "state": state}), media_type="application/json")


@router.post(
    "/resume",
    response_model=None,
    responses=stream_responses(*ERRORS, Code.UNKNOWN_RUN),
    openapi_extra=json_body(ResumeRun),
)
async def post_resume(
    request: Request,
    services: ServicesDep,
    caller: CallerDep,
    *,
    protocol: str | None = None,
    thread_id: OptionalThreadQuery = None,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Stream a run from its first event, for the client's `resumeApi`.

    The header Aui-Replay-Content-Length is the number of bytes that existed before this request.
    """
    body = await read_model(request, ResumeRun, _limit(services))
    variant = ASSISTANT.variant(protocol, accept)
    return await counted_resume(_resumed(body, thread_id, variant, services, caller), services)


async def _resumed(
    body: ResumeRun, thread_id: str | None, variant: ClientProtocol[Any], services: Services, caller: Caller
) -> Response:
    record = await _run_to_resume(body, thread_id, services, caller)
    opening = await opening_of(record, variant, services)
    assert opening is not None  # both framings begin with the branch
    events = await services.runs.events(record.id)
    replayed = len(opening.data) + len(opening.encoder_of(record, 0).encode(events))
    with services.streams.acquire(caller.owner) as slot:
        response = run_response(record, variant, services, slot, opening=opening)
    response.raw_headers.append((REPLAY_HEADER.encode(), str(replayed).encode()))
    return response


async def _run_to_resume(body: ResumeRun, thread_id: str | None, services: Services, caller: Caller) -> RunRecord:
    """Return the named run, or the one that is running in the thread; raises RequestError UNKNOWN_RUN."""
    if body.run_id is not None:
        return await run_of(body.run_id, services.runs, caller)
    thread = thread_id or body.thread_id
    run = await _running(_key(thread, caller), services) if thread else None
    if run is None:
        raise RequestError(Code.UNKNOWN_RUN, "No answer of the thread is running.", "threadId")
    return run


async def _running(key: str, services: Services) -> RunRecord | None:
    """Return the newest run of a conversation that has not ended."""
    run_ids = await services.database.read(stored.unfinished_of, key)
    records = [await services.runs.find(run_id) for run_id in run_ids]
    return max((one for one in records if not one.is_over), key=lambda one: one.started, default=None)


def _key(thread_id: str, caller: Caller) -> str:
    return key_of(caller.owner, conversation_id_of(thread_id))


def _limit(services: Services) -> int:
    return int(services.settings.signalbox_max_body_mb * 1024 * 1024)
