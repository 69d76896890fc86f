"""The response of GET /api/models, encoded and compressed once per fetched catalogue."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import orjson

from signalbox.app.asgi.conditional import etag_of
from signalbox.app.openapi.response_types import Model
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import ModelFacts
from signalbox.offload import offloaded
from signalbox.services.catalog import ModelCatalog
from signalbox.wire.json_text import dumps

_GZIP_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Packed:
    """A response body, plain and gzipped, with its ETag; `models` are the entries that it was made from."""

    models: Sequence[ModelFacts]
    plain: bytes
    gzipped: bytes
    etag: str


class ModelList:
    """Encodes the catalogue's models and the default model, and caches the result."""

    def __init__(self, catalog: ModelCatalog, default: str | None) -> None:
        self._catalog = catalog
        self._default = default
        self._packed: dict[bool, Packed] = {}

    async def packed(self, *, hidden: bool) -> Packed:
        """Return the body; without `hidden`, it lists only models that are offered for selection."""
        models, fetched = await self._catalog.entries()
        packed = self._packed.get(hidden)
        if packed is None or packed.models is not models:
            rest = dumps({"fetched": fetched, "default": self._default})
            packed = await offloaded(partial(_pack, models, rest, hidden=hidden), size=LARGE)
            self._packed[hidden] = packed
        return packed


def _pack(models: Sequence[ModelFacts], rest: bytes, *, hidden: bool) -> Packed:
    listing = b",".join(orjson.dumps(shown(model)) for model in models if hidden or not model.hidden)
    plain = b'{"models":[%b],%b' % (listing, rest[1:])
    return Packed(models, plain, gzip.compress(plain, _GZIP_LEVEL, mtime=0), etag_of(plain))


def shown(model: ModelFacts) -> Model:
    """Return a model as the API lists it."""
    return {
        "id": model.id,
        "name": model.name,
        "context_length": model.context_length,
        "max_output": model.max_output,
        "created": model.created,
        "pricing": model.pricing,
        "supported_parameters": [*model.supported],
        "badges": [*model.badges],
        "hidden": model.hidden,
    }
