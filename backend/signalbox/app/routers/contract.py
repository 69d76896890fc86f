"""GET /api/contract/…: the JSON Schemas of events and DataTables, public like the OpenAPI document."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from signalbox.app.asgi.conditional import etag_of, is_current
from signalbox.app.openapi.document import errors
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core import data_table
from signalbox.core.codes import Code
from signalbox.core.events import VERSION
from signalbox.encoders.contract_schema import schema_bytes, table_schema_bytes

PATH = f"/api/contract/v{VERSION}.json"
TABLE_PATH = f"/api/contract/data-table-v{data_table.VERSION}.json"
_SCHEMA, _TABLE_SCHEMA = schema_bytes(), table_schema_bytes()
_TYPE = "application/schema+json"

router = APIRouter(tags=["contract"], route_class=KnownParameters)

IfNoneMatch = Annotated[str, Header()]


def _responses(subject: str) -> dict[int | str, dict[str, Any]]:
    return {
        200: {
            "description": f"The JSON Schema (2020-12) of {subject}.",
            "content": {_TYPE: {"schema": {"type": "object", "description": "A JSON Schema."}}},
        },
        304: {"description": "The schema is the one that If-None-Match names."},
        **errors(Code.UNKNOWN_FIELD, Code.HOST_NOT_ALLOWED),
    }


@router.head(PATH, response_model=None, include_in_schema=False)
@router.get(PATH, response_model=None, responses=_responses("an event"))
async def get_event_schema(if_none_match: IfNoneMatch = "") -> Response:
    """Return the JSON Schema of the events of a stream. It needs no token."""
    return _served(_SCHEMA, if_none_match)


@router.head(TABLE_PATH, response_model=None, include_in_schema=False)
@router.get(TABLE_PATH, response_model=None, responses=_responses("a DataTable"))
async def get_data_table_schema(if_none_match: IfNoneMatch = "") -> Response:
    """Return the JSON Schema of a DataTable, the artifact of some tool results. It needs no token."""
    return _served(_TABLE_SCHEMA, if_none_match)


def _served(schema: bytes, if_none_match: str) -> Response:
    """Respond with a schema. It grows with the server's version, so caches revalidate it."""
    headers = {"etag": etag_of(schema), "cache-control": "no-cache"}
    if is_current(if_none_match, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(schema, media_type=_TYPE, headers=headers)
