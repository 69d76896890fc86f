"""The responses of GET /api/models and GET /v1/models: encoded once per fetched catalogue and set of allowed models."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import orjson

from signalbox.app.asgi.conditional import etag_of
from signalbox.app.openapi.response_types import Model
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonValue
from signalbox.core.security.policies import matches
from signalbox.encoders.openai_models import model_list, model_object
from signalbox.offload import offloaded
from signalbox.services.catalog import Catalog
from signalbox.wire.json_text import dumps

_GZIP_LEVEL = 9
# Of lists for callers who may use only some models.
_MOST_LISTS = 64
Patterns: TypeAlias = tuple[tuple[str, ...], ...]
"""Which models a list contains: those that match a pattern of each tuple."""
Key = TypeVar("Key")


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
        self._lists: dict[tuple[bool, Patterns], Packed] = {}

    async def packed(self, patterns: Patterns = (), *, hidden: bool) -> Packed:
        """Return the body; without `hidden`, it lists only models that are offered for selection."""
        models, fetched = await self._catalog.entries()
        packed = self._lists.get((hidden, patterns))
        if packed is None or packed.models is not models:
            default = self._default if self._default is not None and _is_allowed(self._default, patterns) else None
            rest = dumps({"fetched": fetched, "default": default})
            packed = await offloaded(partial(_listed, models, rest, patterns, hidden=hidden), size=LARGE)
            _remember(self._lists, (hidden, patterns), packed)
        return packed


class OpenAiModelList:
    """Encodes the catalogue's models as OpenAI lists them, and caches the result; hidden models are left out."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lists: dict[Patterns, Packed] = {}

    async def packed(self, patterns: Patterns) -> Packed:
        """Return the body of the list."""
        models, _ = await self._catalog.entries()
        packed = self._lists.get(patterns)
        if packed is None or packed.models is not models:
            packed = await offloaded(partial(_openai_listed, models, patterns), size=LARGE)
            _remember(self._lists, patterns, packed)
        return packed

    async def page(self, patterns: Patterns, offset: int, limit: int | None) -> bytes:
        """Return the body of a part of the list."""
        models, _ = await self._catalog.entries()
        end = None if limit is None else offset + limit
        return await offloaded(
            lambda: dumps(model_list(_shown_objects(models, patterns), slice(offset, end))), size=LARGE
        )

    async def body_of(self, model_id: str) -> bytes:
        """Return the body of one model, also of a hidden one; raises RequestError if a question would be rejected."""
        await self._catalog.check(model_id)
        return dumps(model_object(model_id, self._catalog.entry(model_id)))


def model_not_allowed(model: str, field: str) -> RequestError:
    """Return the error of a request for a model that the caller may not use."""
    return RequestError(Code.MODEL_NOT_ALLOWED, f"You may not use the model {model[:100]!r}.", field)


def _is_allowed(model: str, patterns: Patterns) -> bool:
    return all(matches(model, one) for one in patterns)


def _remember(lists: dict[Key, Packed], key: Key, packed: Packed) -> None:
    if len(lists) >= _MOST_LISTS:
        lists.clear()
    lists[key] = packed


def _listed(models: Sequence[ModelFacts], rest: bytes, patterns: Patterns, *, hidden: bool) -> Packed:
    listed = (model for model in models if (hidden or not model.hidden) and _is_allowed(model.id, patterns))
    listing = b",".join(orjson.dumps(shown(model)) for model in listed)
    return _pack(models, b'{"models":[%b],%b' % (listing, rest[1:]))


def _openai_listed(models: Sequence[ModelFacts], patterns: Patterns) -> Packed:
    return _pack(models, dumps(model_list(_shown_objects(models, patterns))))


def _shown_objects(models: Sequence[ModelFacts], patterns: Patterns) -> list[JsonValue]:
    return [model_object(model.id, model) for model in models if not model.hidden and _is_allowed(model.id, patterns)]


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
