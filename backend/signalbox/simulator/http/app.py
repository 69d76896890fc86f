"""The simulator's HTTP app: OpenRouter's routes under /api/v1, and those of the native APIs."""

from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..build_completion import build_completion, generation_entry
from ..catalog import ROWS, SCRIPTED, Model, is_known, listing
from ..families import FAMILIES
from ..faults.broken_streams import response_writes
from ..faults.scripted import example_ids, fault_of, is_unknown_fault
from ..json_values import as_list, as_object
from ..native.endpoint import native_error
from ..native.errors import NativeError
from ..native.prompt_cache import PromptCache
from ..native.table import native_routes
from ..quirks import Attempts, apply_to_request
from ..rules import check, check_body
from .account import key_body
from .body import body_writes
from .errors import Rejected
from .incoming import Incoming, parse_request
from .replay import Recording, Recordings, load
from .scripted_errors import scripted_error
from .state import STORED_HEADERS, Received, SimulatorState
from .stream import frames
from .writes import Writes

DEFAULT_PACE = 0.012


def create_simulator(*, replay: Path | None = None, pace: float = DEFAULT_PACE, list_faults: bool = False) -> Starlette:
    """Return the app; `pace` is in seconds between writes, `list_faults` lists the fault ids in /models.

    `app.state.requests` are the received requests, `app.state.open_streams` is the number of answers being sent, and
    `app.state.simulator` has both and more.
    """
    routes = [
        Route("/api/v1/chat/completions", chat, methods=["POST"]),
        Route("/api/v1/models", models),
        Route("/api/v1/key", key),
        Route("/api/v1/generation", generation_of),
        *native_routes(),
    ]
    handlers: Any = {Rejected: _rejection, NativeError: native_error}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.simulator = SimulatorState(app_state=app.state)
    app.state.open_streams = 0
    app.state.requests = app.state.simulator.requests
    app.state.pace = pace
    app.state.recordings = load(replay) if replay else None
    app.state.list_faults = list_faults
    app.state.attempts = Attempts()
    app.state.prompt_cache = PromptCache()
    return app


async def chat(request: Request) -> Response:
    """Answer POST /chat/completions."""
    state: SimulatorState = request.app.state.simulator
    received = await _receive(request, state)
    try:
        return _answer(request, received)
    except Rejected as rejected:
        received.status = rejected.status
        raise


async def _receive(request: Request, state: SimulatorState) -> Received:
    """Record the request as received."""
    text = await request.body()
    body: Any = None
    with suppress(orjson.JSONDecodeError):
        body = orjson.loads(text)
    headers = {name: request.headers[name] for name in STORED_HEADERS if name in request.headers}
    received = Received(request.url.path, body, headers, "authorization" in request.headers)
    state.receive(received)
    if body is None:
        received.status = 400
        raise Rejected(400, "Invalid JSON in request body")
    return received


def _answer(request: Request, received: Received) -> Response:
    recordings: Recordings | None = request.app.state.recordings
    if recordings is not None:
        recording = recordings.pick(as_object(received.body), request.headers)
        if recording is not None:
            return _replayed(request, received, recording)
    body = check_body(received.body)
    incoming = _accepted(body, request.app.state.attempts, replaying=recordings is not None)
    return _simulated(request, received, incoming)


def _replayed(request: Request, received: Received, recording: Recording) -> Response:
    received.status = recording.status
    return Writes(
        recording.writes(),
        state=request.app.state.simulator,
        received=received,
        pace=request.app.state.pace,
        media_type=recording.content_type,
        status=recording.status,
    )


def _accepted(body: dict[str, Any], attempts: Attempts, *, replaying: bool) -> Incoming:
    """Return the request for the first of its models that does not reject it."""
    first = [body["model"]] if "model" in body else []
    candidates = list(dict.fromkeys(str(model) for model in [*first, *as_list(body.get("models"))]))
    for at, model in enumerate(candidates):
        if not is_known(model) or is_unknown_fault(model) or (replaying and "/sim" not in model):
            raise Rejected(400, f"{model} is not a valid model ID")
        try:
            incoming = apply_to_request(parse_request({**body, "model": model}), attempts)
        except Rejected as rejected:
            if at == len(candidates) - 1 or rejected.status in (400, 401, 402, 413):
                raise
            continue
        fault = fault_of(model)
        if fault is None or fault.name != "error":
            check(incoming)
            return incoming
        if at == len(candidates) - 1 or (fault.number or 500) in (400, 401, 402, 413):
            provider = FAMILIES[incoming.family].provider(incoming.provider_order)
            raise scripted_error(fault.number or 500, provider)
    raise Rejected(400, "No models provided")


def _simulated(request: Request, received: Received, incoming: Incoming) -> Response:
    state: SimulatorState = request.app.state.simulator
    state.served += 1
    completion = build_completion(replace(incoming, count_page=state.count_page), state.served)
    state.serve(generation_entry(completion, incoming))
    received.status, received.generation_id = 200, completion.id
    writes, ending, media_type = response_writes(completion, fault_of(incoming.model), stream=incoming.stream)
    return Writes(
        writes,
        state=state,
        received=received,
        pace=request.app.state.pace,
        media_type=media_type,
        headers={"x-generation-id": completion.id},
        ending=ending,
        whole=lambda: sum(map(len, frames(completion) if incoming.stream else body_writes(completion))),
    )


async def models(request: Request) -> Response:
    """Answer GET /models."""
    recordings: Recordings | None = request.app.state.recordings
    rows = tuple(recordings.listed()) if recordings else ROWS
    return Response(_listed(rows, with_faults=request.app.state.list_faults), media_type="application/json")


@cache
def _listed(rows: tuple[Model, ...], *, with_faults: bool) -> bytes:
    if with_faults:
        ids = [f"{family}/{fault}" for family in FAMILIES for fault in example_ids()]
        faults = [Model(name, f"Fault: {name}", "1", "1", images=True, hidden=True) for name in ids]
        rows = (*rows, *SCRIPTED, *faults)
    return orjson.dumps(listing(rows))


async def key(request: Request) -> Response:
    """Answer GET /key."""
    state: SimulatorState = request.app.state.simulator
    return _json(key_body(state.spent))


async def generation_of(request: Request) -> Response:
    """Answer GET /generation?id=."""
    state: SimulatorState = request.app.state.simulator
    wanted = request.query_params.get("id", "")
    found = state.poll(wanted)
    if found is None:
        raise Rejected(404, f"Generation {wanted} not found")
    return _json({"data": found})


async def _rejection(request: Request, rejected: Rejected) -> Response:
    return _json(rejected.body(), rejected.status, rejected.headers)


def _json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type="application/json")
