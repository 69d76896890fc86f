"""GET /api/contract/v1.1.json: the JSON Schema of the event contract, public like the OpenAPI document."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from signalbox.app.asgi.conditional import etag_of, is_current
from signalbox.app.openapi.document import errors
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.events import VERSION
from signalbox.encoders.contract_schema import schema_bytes

PATH = f"/api/contract/v{VERSION}.json"
_SCHEMA = schema_bytes()
_ETAG = etag_of(_SCHEMA)
_TYPE = "application/schema+json"
# It grows with the server's version, so caches revalidate it.
_HEADERS = {"etag": _ETAG, "cache-control": "no-cache"}

router = APIRouter(tags=["contract"], route_class=KnownParameters)


@router.head(PATH, response_model=None, include_in_schema=False)
@router.get(
    PATH,
    response_model=None,
    responses={
        200: {
            "description": "The JSON Schema (2020-12) of an event.",
            "content": {_TYPE: {"schema": {"type": "object", "description": "A JSON Schema."}}},
        },
        304: {"description": "The schema is the one that If-None-Match names."},
        **errors(Code.UNKNOWN_FIELD, Code.HOST_NOT_ALLOWED),
    },
)
async def get_event_schema(if_none_match: Annotated[str, Header()] = "") -> Response:
    """Return the JSON Schema of the events of a stream. It needs no token."""
    if is_current(if_none_match, _ETAG):
        return Response(status_code=304, headers=_HEADERS)
    return Response(_SCHEMA, media_type=_TYPE, headers=_HEADERS)
