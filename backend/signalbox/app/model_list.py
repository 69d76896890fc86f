"""The responses of GET /api/models and GET /v1/models, encoded and compressed once per fetched catalogue."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import orjson

from signalbox.app.asgi.conditional import etag_of
from signalbox.app.openapi.response_types import Model
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import ModelFacts
from signalbox.core.messages import JsonValue
from signalbox.encoders.openai_models import model_list, model_object
from signalbox.offload import offloaded
from signalbox.services.catalog import Catalog
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

    def __init__(self, catalog: Catalog, default: str | None) -> None:
        self._catalog = catalog
        self._default = default
        self._packed: dict[bool, Packed] = {}

    async def packed(self, *, hidden: bool) -> Packed:
        """Return the body; without `hidden`, it lists only models that are offered for selection."""
        models, fetched = await self._catalog.entries()
        packed = self._packed.get(hidden)
        if packed is None or packed.models is not models:
            rest = dumps({"fetched": fetched, "default": self._default})
            packed = await offloaded(partial(_listed, models, rest, hidden=hidden), size=LARGE)
            self._packed[hidden] = packed
        return packed


class OpenAiModelList:
    """Encodes the catalogue's models as OpenAI lists them, and caches the result; hidden models are left out."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._packed: Packed | None = None

    async def packed(self) -> Packed:
        """Return the body of the list."""
        models, _ = await self._catalog.entries()
        packed = self._packed
        if packed is None or packed.models is not models:
            packed = self._packed = await offloaded(partial(_openai_listed, models), size=LARGE)
        return packed

    async def page(self, offset: int, limit: int | None) -> bytes:
        """Return the body of a part of the list."""
        models, _ = await self._catalog.entries()
        end = None if limit is None else offset + limit
        return await offloaded(lambda: dumps(model_list(_shown_objects(models), slice(offset, end))), size=LARGE)

    async def body_of(self, model_id: str) -> bytes:
        """Return the body of one model, also of a hidden one; raises RequestError if a question would be rejected."""
        await self._catalog.check(model_id)
        return dumps(model_object(model_id, self._catalog.entry(model_id)))


def _listed(models: Sequence[ModelFacts], rest: bytes, *, hidden: bool) -> Packed:
    listing = b",".join(orjson.dumps(shown(model)) for model in models if hidden or not model.hidden)
    return _pack(models, b'{"models":[%b],%b' % (listing, rest[1:]))


def _openai_listed(models: Sequence[ModelFacts]) -> Packed:
    return _pack(models, dumps(model_list(_shown_objects(models))))


def _shown_objects(models: Sequence[ModelFacts]) -> list[JsonValue]:
    return [model_object(model.id, model) for model in models if not model.hidden]


def _pack(models: Sequence[ModelFacts], plain: bytes) -> Packed:
    return Packed(models, plain, gzip.compress(plain, _GZIP_LEVEL, mtime=0), etag_of(plain))


def shown(model: ModelFacts) -> Model:
    """Return a model as the API lists it."""
    served: Model = {
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
    if model.upstreams:
        served["upstreams"] = [*model.upstreams]
    return served
