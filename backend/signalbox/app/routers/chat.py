"""The requests that start runs: one endpoint for every path of every client protocol."""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from signalbox.app.access import caller_of
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.request_id import info_of
from signalbox.app.asgi.route_bypass import Endpoint
from signalbox.app.deps import Services, services_of, tools_of
from signalbox.app.protocols import ClientProtocol
from signalbox.app.request.body import object_in, read_body
from signalbox.app.request.idempotency import checked_key, digest_of, owned
from signalbox.app.request.query_parameters import reject_unknown
from signalbox.app.request.trace_headers import trace_headers_of
from signalbox.app.run_stream import counted_resume, opening_of, parse_event_id, reject_repeated, resume, run_response
from signalbox.app.start_run import Origin, Stored, start_run
from signalbox.chat.observer import NO_HEADERS
from signalbox.core.ask import Ask
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.intakes.intake import Body
from signalbox.offload import offloaded

_HEADERS = (b"last-event-id", b"idempotency-key", b"x-tool-loop")


def router_of(protocols: Iterable[ClientProtocol[Any]]) -> APIRouter:
    """Make the routes of the protocols. Requests bypass them; they are for OpenAPI, and answer other methods."""
    router = APIRouter()
    for protocol in protocols:
        for path in protocol.paths:
            is_shown = bool(protocol.openapi) and path == protocol.paths[0]  # the others are the same route
            router.add_api_route(
                path, endpoint_of(protocol), methods=["POST"], include_in_schema=is_shown, **protocol.openapi
            )
    return router


def endpoint_of(protocol: ClientProtocol[Any]) -> Endpoint:
    """Return the endpoint of a protocol."""

    async def stream_chat(request: Request) -> Response:
        return await _respond(request, protocol)

    return stream_chat


async def _respond(request: Request, protocol: ClientProtocol[Any]) -> Response:
    """Start a run and answer with it.

    With Last-Event-ID the run of that event is resumed, and none is started. An Idempotency-Key that has started a run
    before is answered with that run.
    """
    # Everything is read from the request itself: FastAPI's dependencies were a tenth of a short stream.
    reject_unknown(request.scope, protocol.query)
    if protocol.variants:
        protocol = protocol.variant(request.query_params.get("protocol"), request.headers.get("accept", ""))
    services, caller = services_of(request), caller_of(request)
    last_event_id, key, x_tool_loop = _headers_of(request)
    if last_event_id is not None or key is not None:
        reject_repeated(request, "Last-Event-ID", "Idempotency-Key")
    if last_event_id:
        run_id, after = parse_event_id(last_event_id)
        return await counted_resume(resume(run_id, services, caller, after=after, protocol=protocol), services)
    data = await read_body(request, int(services.settings.signalbox_max_body_mb * 1024 * 1024))
    body = await offloaded(lambda: protocol.body_of(object_in(data)), size=len(data))
    address = request.client.host if request.client else None
    traced = trace_headers_of(request.scope) if services.is_traced else NO_HEADERS
    origin = partial(Origin, caller, address, info_of(request.scope).id, x_tool_loop, len(data), trace_headers=traced)
    if key is None:
        return await _start(request, protocol, body, origin(), services)
    key = owned(checked_key(key), caller.owner)
    headers = {name: request.headers[name] for name in protocol.question_headers if name in request.headers}
    digest = await offloaded(lambda: digest_of({**body.canonical, **headers}), size=len(data))
    async with services.runs.hold_key(key) as known:
        if known is None:
            return await _start(request, protocol, body, origin(key, digest), services)
        if known.digest != digest:
            raise RequestError(Code.KEY_REUSED, field="Idempotency-Key")
        known_run = resume(known.id, services, caller, after=0, protocol=protocol, is_streamed=body.is_streamed)
        return await counted_resume(known_run, services)


def _headers_of(request: Request) -> list[str | None]:
    """Return the headers that a request may have in every protocol."""
    there = headers_of(request.scope)
    return [there[name].decode("latin-1") if name in there else None for name in _HEADERS]


async def _start(
    request: Request, protocol: ClientProtocol[Any], body: Body[Any], origin: Origin, services: Services
) -> Response:
    """Start a run, and answer with its events; raises RequestError."""
    tools = tools_of(services, origin.caller)
    ask = await offloaded(lambda: protocol.ask_of(body, tools, request.headers), size=origin.size)
    async with _alone(ask, services):
        with services.streams.acquire(origin.caller.owner) as slot:
            run = await start_run(ask, origin, services)
            if isinstance(run, Stored):
                assert protocol.stored_of is not None  # only Asks of such a protocol start no run
                slot.release()
                return await protocol.stored_of(run, services)
            opening = await opening_of(run.opening, protocol, services)
            return run_response(run, protocol, services, slot, is_streamed=body.is_streamed, opening=opening)


def _alone(ask: Ask, services: Services) -> AbstractAsyncContextManager[None]:
    """Let an answer be continued by one request at a time: each sees what the one before it has started."""
    if ask.position is None or not ask.position.continues:
        return nullcontext()
    return services.runs.names.hold(f"continue {ask.position.parent_id}", services.runs.store)
