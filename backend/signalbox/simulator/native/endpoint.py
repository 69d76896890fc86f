"""Answers a request to a native API with the simulated model."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ..build_completion import build_completion
from ..completion import Completion
from ..faults.scripted import fault_of, is_unknown_fault
from ..http.incoming import Incoming
from ..http.state import STORED_HEADERS, Received, SimulatorState
from ..http.writes import Writes
from ..quirks import apply_to_request, is_of_openrouter, quirk_of
from .errors import NativeError
from .prompt_cache import PromptCache
from .wire import Wire, writes_of

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that the API accepts: its own JSON, and the same as the simulated model reads it."""

    body: dict[str, Any]
    incoming: Incoming


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeApi:
    """What a native API does in its own way."""

    accept: Callable[[Request, Any], Asked]
    """Checks and translates a request (JSON of any shape, None if it is not JSON); raises NativeError."""
    write: Callable[[Completion, Asked, PromptCache], Wire]
    """Encodes an answer, streamed and whole."""
    scripted_error: Callable[[int], NativeError]
    """Returns the error of `sim-error-N`."""


def answers_natively(model: str) -> bool:
    """Return whether a native API can serve a simulated model: quirks of OpenRouter's chunks exist only there."""
    return not is_unknown_fault(model) and not is_of_openrouter(model)


async def answer(request: Request, api: NativeApi) -> Response:
    """Answer a request, streamed or not."""
    body = await json_of(request)
    received = _receive(request, body)
    try:
        return _answered(request, received, api.accept(request, body), api)
    except NativeError as error:
        received.status = error.status
        raise


async def json_of(request: Request) -> Any:
    """Return the JSON of a request, None if it is not JSON."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(await request.body())
    return None


def _receive(request: Request, body: Any) -> Received:
    state: SimulatorState = request.app.state.simulator
    headers = {name: request.headers[name] for name in STORED_HEADERS if name in request.headers}
    has_key = any(name in request.headers for name in KEY_HEADERS)
    received = Received(request.url.path, body, headers, has_key)
    state.receive(received)
    return received


def _answered(request: Request, received: Received, asked: Asked, api: NativeApi) -> Response:
    state: SimulatorState = request.app.state.simulator
    incoming = apply_to_request(asked.incoming, request.app.state.attempts)
    fault = fault_of(incoming.model)
    if fault and fault.name == "error":
        raise api.scripted_error(fault.number or 500)
    state.served += 1
    completion = build_completion(replace(incoming, count_page=state.count_page), state.served)
    wire = api.write(completion, asked, request.app.state.prompt_cache)
    quirk = quirk_of(incoming.model, incoming.attempt)
    writes, ending, media_type = writes_of(wire, fault, quirk, stream=incoming.stream)
    received.status = 200
    return Writes(
        writes,
        state=state,
        received=received,
        pace=request.app.state.pace,
        media_type=media_type,
        headers=wire.headers,
        ending=ending,
    )


async def native_error(request: Request, error: NativeError) -> Response:
    """Send the error of a native API."""
    if error.page is not None:
        return Response(error.page, error.status, error.headers, media_type="text/html")
    return Response(orjson.dumps(error.body), error.status, error.headers, media_type="application/json")
