"""GET /api/images/{signed}: the images of tables, which a page must not load from their source."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from signalbox.app.asgi.conditional import etag_of, is_current
from signalbox.app.deps import ServicesDep
from signalbox.app.openapi.document import errors
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, ToolError
from signalbox.core.security.image_addresses import PREFIX

router = APIRouter(tags=["images"], route_class=KnownParameters)

_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif", "image/avif")


@router.get(
    f"{PREFIX}{{signed}}",
    response_model=None,
    responses={
        200: {
            "description": "The image.",
            "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in _TYPES},
        },
        304: {"description": "The image is the one that If-None-Match names."},
        **errors(Code.UNKNOWN_FIELD, Code.NOT_FOUND, Code.HOST_NOT_ALLOWED),
    },
)
async def get_image(signed: str, services: ServicesDep, if_none_match: Annotated[str, Header()] = "") -> Response:
    """Return an image of a table. It needs no token, because the signature in the path allows exactly this image."""
    source = services.image_addresses.source_of(signed)
    if source is None:
        raise RequestError(Code.NOT_FOUND, "This is not the address of an image in a tool result.")
    try:
        image = await services.images.load(source)
    except ToolError as error:
        raise RequestError(Code.NOT_FOUND, f"The image cannot be loaded from its source: {error.message}") from error
    headers = {"etag": etag_of(image.body), "cache-control": "private, max-age=86400"}
    if is_current(if_none_match, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(image.body, media_type=image.kind, headers=headers)
