"""The answer of GET /api/models, written and compressed once for each catalogue that was fetched."""

import gzip
from dataclasses import dataclass
from functools import partial

from signalbox.app.asgi.conditional import etag_of
from signalbox.offload import offloaded
from signalbox.services.catalog import ModelCatalog
from signalbox.wire.json_text import dumps

_BEST = 9


@dataclass(frozen=True, slots=True)
class Packed:
    """A body, the same in gzip, and its ETag. `listing` is what it was made of."""

    listing: bytes
    plain: bytes
    gzipped: bytes
    etag: str


class ModelList:
    """The catalogue's models with the model to begin with, in both of their encodings."""

    def __init__(self, catalog: ModelCatalog, default: str | None) -> None:
        self._catalog = catalog
        self._default = default
        self._packed: dict[bool, Packed] = {}

    async def packed(self, *, hidden: bool) -> Packed:
        """Return the body with all models, or without those that are not to be picked."""
        listing, fetched = await self._catalog.listing(hidden=hidden)
        packed = self._packed.get(hidden)
        if packed is None or packed.listing is not listing:
            rest = dumps({"fetched": fetched, "default": self._default})
            packed = await offloaded(partial(_packed, listing, rest), size=len(listing))
            self._packed[hidden] = packed
        return packed


def _packed(listing: bytes, rest: bytes) -> Packed:
    plain = b'{"models":%b,%b' % (listing, rest[1:])
    return Packed(listing, plain, gzip.compress(plain, _BEST, mtime=0), etag_of(plain))
