"""/api/saves: create, list, read, replay and delete snapshots of runs."""

from collections.abc import AsyncGenerator, Sequence
from time import time
from typing import Annotated, cast

import msgspec
from fastapi import APIRouter, Header, Query, Request, Response

from signalbox.app.access import Caller, CallerDep, own_run_of
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response, replay_responses
from signalbox.app.openapi.request_bodies import CreateSave
from signalbox.app.openapi.response_types import Deleted, EarlierRun, Save, SaveContent, SaveList, SaveSummary
from signalbox.app.request.body import read_model
from signalbox.app.request.paging import Before, Limit, cursor_at, cursor_in
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.run_stream import cursor_of, no_events_left, reject_repeated, save_response
from signalbox.conversations.titles import title_of
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import Stamped, contract_events
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.records import RunRecord
from signalbox.offload import offloaded
from signalbox.runs.trace import RunTrace, trace_of
from signalbox.store import saves as stored
from signalbox.wire.json_text import dumps, loads

router = APIRouter(prefix="/api/saves", tags=["saves"], route_class=KnownParameters)


@router.post(
    "",
    response_model=None,
    responses={
        200: json_response(SaveSummary),
        **api_errors(*BODY_ERRORS, Code.UNKNOWN_RUN, Code.RUN_NOT_OVER),
    },
    openapi_extra=json_body(CreateSave),
)
async def create_save(request: Request, services: ServicesDep, caller: CallerDep) -> SaveSummary:
    """Save a snapshot of one of your finished runs, with the runs that it continues."""
    wanted = await read_model(request, CreateSave, int(services.settings.signalbox_max_body_mb * 1024 * 1024))
    record = await own_run_of(wanted.run_id, services.runs, caller)
    if not record.is_over:
        raise RequestError(Code.RUN_NOT_OVER, field="run_id")
    earlier = await _continued(record, services, caller)
    first = earlier[0][0] if earlier else record
    question = _without_details(await services.database.read(stored.question_of, first))
    events = contract_events(await services.runs.events(record.id))
    await services.runs.find(record.id)  # raises if the run was deleted meanwhile: its copy would be incomplete
    line = _line(record, wanted.title or _title(question))
    frozen = await offloaded(lambda: [_frozen(*run) for run in earlier], size=LARGE if earlier else 0)
    snapshot = stored.Snapshot(question, cast(JsonObject, trace_of(record, events)), wanted.data, frozen)
    await services.database.write(stored.add_save, line, snapshot, events)
    return _summary(line)


@router.get("", response_model=None, responses={200: json_response(SaveList), **api_errors()})
async def list_saves(services: ServicesDep, caller: CallerDep, limit: Limit = 50, before: Before = None) -> SaveList:
    """List your saves, the newest first."""
    found = await services.database.read(stored.list_saves, caller.owner, limit + 1, cursor_in(before))
    shown = found[:limit]
    last = shown[-1] if len(found) > limit else None
    return {"saves": [_summary(line) for line in shown], "next": cursor_at(last.created, last.id) if last else None}


@router.get("/{save_id}", response_model=None, responses={200: json_response(Save), **api_errors(Code.UNKNOWN_SAVE)})
async def get_save(save_id: str, services: ServicesDep, caller: CallerDep) -> Response:
    """Return a save: the question, the trace, the client's data and all events of the run."""
    line, snapshot, events = await services.database.read(
        lambda c: (
            stored.find_save(c, save_id, caller.owner),
            stored.snapshot_of(c, save_id),
            stored.events_of(c, save_id),
        )
    )
    if line is None or snapshot is None:
        raise RequestError(Code.UNKNOWN_SAVE)
    content: SaveContent = {
        **_summary(line),
        "question": snapshot.question,
        "trace": cast(RunTrace, snapshot.trace),
        "data": snapshot.data,
        "earlier": cast(list[EarlierRun], snapshot.earlier),
    }

    def written() -> bytes:
        return b'%b,"events":[%b]}' % (dumps(cast(JsonObject, content))[:-1], b",".join(map(_flat, events)))

    return Response(await offloaded(written, size=LARGE), media_type="application/json")


@router.get("/{save_id}/events", response_model=None, responses=replay_responses(Code.UNKNOWN_SAVE))
async def get_save_events(
    save_id: str,
    request: Request,
    services: ServicesDep,
    caller: CallerDep,
    *,
    after: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """Replay the stream of a saved run after a cursor: the same bytes as the run's own stream."""
    reject_repeated(request, "Last-Event-ID")
    line = await services.database.read(stored.find_save, save_id, caller.owner)
    if line is None:
        raise RequestError(Code.UNKNOWN_SAVE)
    after = cursor_of(line.run_id, after, last_event_id)
    record = RunRecord(line.run_id, line.model, line.loop)
    if after >= line.seq:
        return no_events_left(record)
    with services.streams.acquire(caller.owner) as slot:
        return save_response(record, lambda _: _kept(save_id, services, after), slot, after=after)


@router.delete(
    "/{save_id}", response_model=None, responses={200: json_response(Deleted), **api_errors(Code.UNKNOWN_SAVE)}
)
async def delete_save(save_id: str, services: ServicesDep, caller: CallerDep) -> Deleted:
    """Delete a save, in the database files too. Its run remains."""
    if not await services.database.write(stored.delete_save, save_id, caller.owner):
        raise RequestError(Code.UNKNOWN_SAVE)
    await services.database.erase_deleted()
    return {"deleted": True}


async def _continued(record: RunRecord, services: Services, caller: Caller) -> list[tuple[RunRecord, list[Stamped]]]:
    """Return the runs that a run continues, oldest first, with their events; raises RequestError."""
    found: list[tuple[RunRecord, list[Stamped]]] = []
    while record.continues is not None:
        record = await own_run_of(record.continues, services.runs, caller)
        found.append((record, contract_events(await services.runs.events(record.id))))
    return found[::-1]


def _frozen(record: RunRecord, events: Sequence[Stamped]) -> JsonValue:
    """Return an earlier run of the saved answer as the API shows it."""
    flat: list[JsonValue] = [loads(_flat(stamped)) for stamped in events]
    return {"run_id": record.id, "trace": cast(JsonObject, trace_of(record, events)), "events": flat}


async def _kept(save_id: str, services: Services, after: int) -> AsyncGenerator[list[Stamped], None]:
    yield await services.database.read(stored.events_of, save_id, after)


def _line(record: RunRecord, title: str) -> stored.ListedSave:
    return stored.ListedSave(
        id=stored.new_save_id(),
        title=title,
        created=time(),
        run_id=record.id,
        model=record.model,
        loop=record.loop,
        status=record.status or "",
        seq=record.seq,
        owner=record.owner,
    )


def _summary(line: stored.ListedSave) -> SaveSummary:
    return {
        "id": line.id,
        "title": line.title,
        "created": line.created,
        "run_id": line.run_id,
        "model": line.model,
        "status": line.status,
    }


def _flat(stamped: Stamped) -> bytes:
    """Encode an event with its sequence number and time, without decoding it."""
    return b'{"seq":%d,"at":%d,%b' % (stamped.seq, stamped.at, msgspec.json.encode(stamped.event)[1:])


def _without_details(question: JsonObject) -> JsonObject:
    """Remove opaque reasoning that the client sent: a save may be shared."""
    messages = question.get("messages")
    if not isinstance(messages, list):
        return question
    bare: list[JsonValue] = [
        {name: value for name, value in message.items() if name != "reasoning_details"}
        if isinstance(message, dict)
        else message
        for message in messages
    ]
    return {**question, "messages": bare}


def _title(question: JsonObject) -> str:
    """Return the first words of the last question, or a default title if it has no text."""
    text = question.get("prompt")
    messages = question.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and message.get("role") == "user":
            text = _words(message.get("content")) or text
    return title_of(text if isinstance(text, str) else "") or "Untitled answer"


def _words(content: JsonValue) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)
