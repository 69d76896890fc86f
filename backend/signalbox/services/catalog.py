"""The model catalogue: the upstream's list, stored on disk for starts without a network."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time
from typing import Protocol

import orjson
import structlog
from msgspec.structs import replace

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, SignalboxError
from signalbox.core.messages import JsonObject
from signalbox.offload import offloaded
from signalbox.wire.dialect import Dialect

_log = structlog.get_logger()
_FRESH_SECONDS = 3600.0
# An unknown model causes a new request for the list, but at most one in this time.
_RETRY_SECONDS = 60.0
# A run can start without the list, so it must not wait long for it.
_FETCH_SECONDS = 5.0


class Catalog(Protocol):
    """The models that requests may name."""

    async def entries(self) -> tuple[list[ModelFacts], float]:
        """Return the models, refreshed if they are old, and when they were fetched (epoch seconds, 0: never)."""
        ...

    async def check(self, model: str) -> None:
        """Raise RequestError for a model that is not in the catalogue."""
        ...

    def entry(self, model: str) -> ModelFacts | None:
        """Return the facts of a model, None if it is not listed."""
        ...


@dataclass(slots=True)
class ModelCatalog:
    """The upstream's models. `by_family`: every model of a listed family counts as known (the simulator's rule).

    The file on disk contains the entries as the upstream sent them; `dialect` reads them.
    """

    fetch: Callable[[], Awaitable[list[JsonObject]]]
    dialect: Dialect
    path: Path
    by_family: bool = False
    _models: list[ModelFacts] = field(default_factory=list[ModelFacts])
    _by_id: dict[str, ModelFacts] = field(default_factory=dict[str, ModelFacts])
    _fetched: float = 0.0
    _tried: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def load(self) -> None:
        """Load the last catalogue from disk, if there is one."""
        try:
            saved = orjson.loads(self.path.read_bytes())
            fetched = float(saved["fetched"])
            self._models, self._by_id = self._read(saved["data"])
            self._fetched = fetched
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("catalog.unreadable", error=type(error).__name__)

    async def entries(self) -> tuple[list[ModelFacts], float]:
        """Return the models, refreshed if they are old, and when they were fetched (epoch seconds, 0: never)."""
        if time() - self._fetched > _FRESH_SECONDS:
            await self._refresh()
        return self._models, self._fetched

    async def check(self, model: str) -> None:
        """Raise RequestError for a model that is not in the catalogue; without a catalogue every id is accepted."""
        if not await self.knows(model):
            raise RequestError(Code.UNKNOWN_MODEL, f"The model list has no model {model[:100]!r}.", "model")

    async def knows(self, model: str) -> bool:
        """Return whether the catalogue lists a model, fetched again if it does not; true without a catalogue."""
        if not self._by_id:
            await self._refresh()
        if not self.may_list(model):
            await self._refresh()
        return self.may_list(model)

    def entry(self, model: str) -> ModelFacts | None:
        """Return the facts of a model, or of the model that it is a variant of."""
        return self._by_id.get(model) or self._by_id.get(self.dialect.listed_id(model) or model)

    def may_list(self, model: str) -> bool:
        """Return whether the catalogue lists a model, without a request; true without a catalogue."""
        if not self._by_id or model in self._by_id:
            return True
        listed = self.dialect.listed_id(model)
        if listed is None or listed in self._by_id:
            return True
        family = model.partition("/")[0]
        return self.by_family and "/" in model and any(known.startswith(f"{family}/") for known in self._by_id)

    @property
    def _was_tried(self) -> bool:
        return time() - self._tried < _RETRY_SECONDS

    async def _refresh(self) -> None:
        """Fetch the list, unless that was tried recently; concurrent callers wait for the same attempt."""
        if self._was_tried and not self._lock.locked():
            return
        async with self._lock:
            if self._was_tried:
                return
            self._tried = time()
            try:
                async with asyncio.timeout(_FETCH_SECONDS):
                    entries = await self.fetch()
            except TimeoutError:
                _log.warning("catalog.unreachable", code=str(Code.UPSTREAM_TIMEOUT))
                return
            except SignalboxError as error:
                _log.warning("catalog.unreachable", code=str(error.code))
                return
            self._models, self._by_id = await offloaded(partial(self._read, entries), size=LARGE)
            self._fetched = time()
            await offloaded(partial(self._save, entries), size=LARGE)

    def _read(self, entries: list[JsonObject]) -> tuple[list[ModelFacts], dict[str, ModelFacts]]:
        read = (self.dialect.facts_of(entry) for entry in entries)
        # An id with control characters is not real, and would reach logs and terminals.
        models = [_printable(model) for model in read if model is not None and model.id.isprintable()]
        return models, {model.id: model for model in models}

    def _save(self, entries: list[JsonObject]) -> None:
        """Write to a temporary file and rename it, so that readers never see half a file."""
        try:
            with NamedTemporaryFile(dir=self.path.parent, delete=False) as file:
                file.write(orjson.dumps({"fetched": self._fetched, "data": entries}))
            Path(file.name).replace(self.path)
        except OSError as error:
            _log.warning("catalog.unwritable", error=type(error).__name__)


def _printable(model: ModelFacts) -> ModelFacts:
    """Replace control characters in a model's name."""
    if model.name.isprintable():
        return model
    return replace(
        model, name="".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in model.name)
    )
