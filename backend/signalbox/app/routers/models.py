"""GET /api/models: the upstream's catalogue."""

from fastapi import APIRouter, Response

from signalbox.app.deps import PartsDep
from signalbox.app.parameters import KnownParameters
from signalbox.wire.jsontext import dumps

router = APIRouter(tags=["models"], route_class=KnownParameters)


@router.get("/api/models", response_model=None)
async def list_models(parts: PartsDep) -> Response:
    """List the models; `fetched` is 0 when no catalogue could be had yet, and then any model id may be asked."""
    models, fetched = await parts.catalog.listing()
    rest = dumps({"fetched": fetched, "default": parts.settings.signalbox_default_model})
    return Response(b'{"models":%b,%b' % (models, rest[1:]), media_type="application/json")
