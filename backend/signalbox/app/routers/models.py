"""GET /api/models: the upstream's catalogue."""

from fastapi import APIRouter

from signalbox.app.deps import PartsDep
from signalbox.app.parameters import KnownParameters
from signalbox.core.messages import JsonObject
from signalbox.services.catalog import shown

router = APIRouter(tags=["models"], route_class=KnownParameters)


@router.get("/api/models", response_model=None)
async def list_models(parts: PartsDep) -> JsonObject:
    """List the models; `fetched` is 0 when no catalogue could be had yet, and then any model id may be asked."""
    entries, fetched = await parts.catalog.entries()
    default = parts.settings.signalbox_default_model
    return {"models": [shown(entry) for entry in entries], "fetched": fetched, "default": default}
