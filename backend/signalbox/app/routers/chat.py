"""POST /api/chat/stream: one question in, one run's events out."""

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TypeAlias

from fastapi import APIRouter, Request, Response

from signalbox.app.access import who_of
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.request_id import info_of
from signalbox.app.deps import Parts, parts_of
from signalbox.app.openapi import CHAT_BODY, CHAT_HEADERS, CHAT_RESPONSES
from signalbox.app.request.body import object_in, read_body
from signalbox.app.request.idempotency import checked_key, digest_of, owned
from signalbox.app.request.query_parameters import refuse_unknown
from signalbox.app.run_stream import read_event_id, refuse_twins, resume, watch
from signalbox.app.start_run import Origin, start_run
from signalbox.core.ask import Ask
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.intakes.intake import Body
from signalbox.intakes.v1 import ask_of
from signalbox.intakes.v1_body import body_of
from signalbox.intakes.v1_schema import ChatRequest
from signalbox.offload import offloaded

router = APIRouter(tags=["chat"])

V1Body: TypeAlias = Body[ChatRequest]

_HEADERS = (b"last-event-id", b"idempotency-key", b"x-tool-loop")


@router.post("/api/chat/stream", openapi_extra={**CHAT_HEADERS, **CHAT_BODY}, responses=CHAT_RESPONSES)
async def stream_chat(request: Request) -> Response:
    """Answer a conversation as a stream of contract v1.1; after validation the status is always 200.

    With Last-Event-ID it resumes that run and never starts one; with an Idempotency-Key that came before it answers
    with the run that was started then.
    """
    # It reads everything from the request itself: FastAPI's dependencies were a tenth of a short stream.
    refuse_unknown(request.scope)
    parts, who = parts_of(request), who_of(request)
    last_event_id, key, x_tool_loop = _headers_of(request)
    if last_event_id is not None or key is not None:
        refuse_twins(request, "Last-Event-ID", "Idempotency-Key")
    if last_event_id:
        run_id, after = read_event_id(last_event_id)
        return await resume(run_id, parts, who, after=after)
    data = await read_body(request, int(parts.settings.signalbox_max_body_mb * 1024 * 1024))
    body = await offloaded(lambda: body_of(object_in(data)), size=len(data))
    address = request.client.host if request.client else None
    origin = partial(Origin, who, address, info_of(request.scope).id, x_tool_loop, len(data))
    if key is None:
        return await _answer(request, body, origin(), parts)
    key = owned(checked_key(key), who.owner)
    digest = await offloaded(partial(digest_of, body.written), size=len(data))
    async with parts.runs.hold_key(key) as known:
        if known is None:
            return await _answer(request, body, origin(key, digest), parts)
        if known.digest != digest:
            raise RequestError(Code.KEY_REUSED, field="Idempotency-Key")
        return await resume(known.id, parts, who, after=0)


def _headers_of(request: Request) -> list[str | None]:
    """Return the headers that a question may have."""
    there = headers_of(request.scope)
    return [there[name].decode("latin-1") if name in there else None for name in _HEADERS]


async def _answer(request: Request, body: V1Body, origin: Origin, parts: Parts) -> Response:
    """Start a run, and answer with its events; raises RequestError."""
    tools = parts.executor.by_name
    ask = await offloaded(lambda: ask_of(body, tools, request.headers), size=origin.size)
    async with _alone(ask, parts):
        with parts.streams.take(origin.caller.owner) as place:
            return watch(await start_run(ask, origin, parts), parts, place)


def _alone(ask: Ask, parts: Parts) -> AbstractAsyncContextManager[None]:
    """Let an answer be continued by one request at a time: each sees what the one before it has started."""
    if ask.position is None or not ask.position.continues:
        return nullcontext()
    return parts.runs.names.hold(f"continue {ask.position.parent_id}", parts.runs.store)
