"""POST /api/chat/variants: several runs answer one question of a conversation."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Request

from signalbox.app.access import CallerDep
from signalbox.app.asgi.request_id import RequestInfo, info_of
from signalbox.app.deps import Services, ServicesDep, tools_of
from signalbox.app.openapi.document import BODY_ERRORS, api_errors, json_body, json_response
from signalbox.app.openapi.response_types import StartedVariant, StartedVariants, VariantError
from signalbox.app.request.body import object_in, read_body
from signalbox.app.request.idempotency import checked_key, digest_of, owned
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.app.request.trace_headers import trace_headers_of
from signalbox.app.run_stream import reject_repeated
from signalbox.app.start_run import Origin
from signalbox.app.variants.start import (
    UNREAD_SECONDS,
    Variant,
    numbers_of,
    start_variants,
    stop_if_unread,
    while_connected,
)
from signalbox.chat.observer import NO_HEADERS
from signalbox.core.codes import CODES, Code
from signalbox.core.conversations import key_of, shown_id
from signalbox.core.errors import RequestError
from signalbox.encoders.v1_error import message_of
from signalbox.intakes.v1 import variant_asks_of
from signalbox.intakes.v1_body import variants_body_of
from signalbox.intakes.v1_schema import VariantsRequest
from signalbox.offload import offloaded

router = APIRouter(tags=["chat"], route_class=KnownParameters)


@router.post(
    "/api/chat/variants",
    response_model=None,
    responses={
        200: json_response(StartedVariants),
        **api_errors(
            *BODY_ERRORS,
            Code.UNKNOWN_MODEL,
            Code.UNKNOWN_TOOL,
            Code.TOOL_UNAVAILABLE,
            Code.UNKNOWN_CONVERSATION,
            Code.UNKNOWN_MESSAGE,
            Code.KEY_REUSED,
            Code.TOO_MANY_QUESTIONS,
            Code.TOO_MANY_RUNS,
            Code.SHUTTING_DOWN,
        ),
    },
    openapi_extra=json_body(VariantsRequest),
)
async def ask_variants(
    request: Request,
    services: ServicesDep,
    caller: CallerDep,
    x_tool_loop: Annotated[
        str | None, Header(description="The loop of these runs, if SIGNALBOX_ALLOW_LOOP_HEADER is set.")
    ] = None,
    idempotency_key: Annotated[
        str | None, Header(description="The same key and body again return the runs that they started first.")
    ] = None,
) -> StartedVariants:
    """Answer one question of a conversation in up to four runs.

    The response arrives when the runs have started. Each run is read with GET /api/runs/{run_id}/events. A variant that
    is refused has an error, and the others run. If all are refused, the response is the error of the first.
    """
    reject_repeated(request, "Idempotency-Key")
    data = await read_body(request, int(services.settings.signalbox_max_body_mb * 1024 * 1024))
    body = await offloaded(lambda: variants_body_of(object_in(data)), size=len(data))
    tools = tools_of(services, caller)
    asks = await offloaded(lambda: variant_asks_of(body, tools, request.headers), size=len(data))
    address = request.client.host if request.client else None
    traced = trace_headers_of(request.scope) if services.is_traced else NO_HEADERS
    origin = partial(Origin, caller, address, info_of(request.scope).id, x_tool_loop, len(data), trace_headers=traced)
    if idempotency_key is None:
        return await _respond([Variant(ask, origin()) for ask in asks], request, services)
    key = owned(checked_key(idempotency_key), caller.owner)
    digest = await offloaded(lambda: digest_of(body.canonical), size=len(data))
    variants = [Variant(ask, origin(one, digest)) for ask, one in zip(asks, _keys(key, len(asks)), strict=True)]
    async with services.runs.hold_key(key):
        await _accept_started(variants, services)
        return await _respond(variants, request, services)


def _keys(key: str, count: int) -> list[str]:
    """Return the key of each run; the first has the key itself, so that no other kind of request can use it again."""
    return [key, *(f"{key}\nvariant\n{number}" for number in range(2, count + 1))]


async def _accept_started(variants: Sequence[Variant], services: Services) -> None:
    """Take the runs that an equal request has started; raises RequestError if another request used the key."""
    for one in variants:
        assert one.origin.key is not None
        record = await services.runs.store.find_by_key(one.origin.key)
        if record is None:
            continue
        if record.digest != one.origin.digest:
            raise RequestError(Code.KEY_REUSED, field="Idempotency-Key")
        one.accept(record)


async def _respond(variants: Sequence[Variant], request: Request, services: Services) -> StartedVariants:
    """Start the variants and describe them; those of a client that leaves before it reads any are stopped."""
    work = _started(variants, info_of(request.scope), services)
    if variants[0].ask.is_detached:
        return await work
    new = [one.run_id for one in variants if one.node_id is None]

    def stop() -> None:
        for run_id in new:
            services.runs.stop_local(run_id)

    response = await while_connected(work, request.receive, stop)
    runs = [run for run_id in new if (run := services.runs.live(run_id)) is not None]
    asyncio.get_running_loop().call_later(UNREAD_SECONDS, stop_if_unread, runs)
    return response


async def _started(variants: Sequence[Variant], info: RequestInfo, services: Services) -> StartedVariants:
    await start_variants(variants, services)
    node_id = next((one.node_id for one in variants if one.node_id is not None), None)
    ask, error = variants[0].ask, variants[0].error
    refused = [(one.error.status, str(one.error.code)) for one in variants if one.error is not None]
    info.refused = refused[1:] if node_id is None else refused  # the response itself counts as the first
    if node_id is None:
        assert error is not None
        raise error
    assert ask.position is not None
    conversation_id = key_of(variants[0].origin.caller.owner, ask.position.conversation_id)
    numbers = await numbers_of(conversation_id, node_id, services)
    return {
        "conversation_id": shown_id(conversation_id),
        "parent_id": node_id,
        "variants": [_shown(one, numbers) for one in variants],
    }


def _shown(variant: Variant, numbers: Mapping[str, int]) -> StartedVariant:
    model, error = variant.ask.model, variant.error
    if error is None:
        return {"number": numbers.get(variant.run_id), "model": model, "run_id": variant.run_id}
    refusal: VariantError = {
        "code": str(error.code),
        "message": message_of(error),
        "retryable": CODES[error.code].retryable,
    }
    return {"number": None, "model": model, "error": refusal}
