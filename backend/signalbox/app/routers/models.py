"""GET /api/models: the upstream's catalogue."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from signalbox.app.access import CallerDep
from signalbox.app.asgi.compression import accepted
from signalbox.app.asgi.conditional import is_current
from signalbox.app.deps import ServicesDep
from signalbox.app.model_list import Packed
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.openapi.response_types import ModelList
from signalbox.app.request.query_parameters import KnownParameters

router = APIRouter(tags=["models"], route_class=KnownParameters)

Hidden = Annotated[bool, Query(description="false: omit models that are requested by name rather than picked")]


@router.get(
    "/api/models",
    response_model=None,
    responses={
        200: json_response(ModelList),
        304: {"description": "The list is the one that If-None-Match names."},
        **api_errors(),
    },
)
async def list_models(
    request: Request,
    services: ServicesDep,
    caller: CallerDep,
    *,
    hidden: Hidden = True,
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """List the models of the upstream's catalogue that the caller may use."""
    packed = await services.models.packed(caller.model_patterns, hidden=hidden)
    return packed_response(packed, request, if_none_match)


def packed_response(packed: Packed, request: Request, if_none_match: str) -> Response:
    """Respond with a list in the encoding that the client accepts, or with 304 if it has this list."""
    headers = {"etag": packed.etag, "cache-control": "private, no-cache", "vary": "accept-encoding"}
    if is_current(if_none_match, packed.etag):
        return Response(status_code=304, headers=headers)
    if accepted(request.scope, ["gzip"]):
        gzipped = {**headers, "content-encoding": "gzip"}
        return Response(packed.gzipped, media_type="application/json", headers=gzipped)
    return Response(packed.plain, media_type="application/json", headers=headers)
