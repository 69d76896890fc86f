"""The model catalogue: the upstream's list, kept on disk, so that a start without a network has the last one."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

import orjson
import structlog

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, SignalboxError
from signalbox.core.messages import JsonObject
from signalbox.offload import offloaded

_log = structlog.get_logger()
_FRESH_SECONDS = 3600.0
# A model that is new at the upstream is looked for again, but not on every request.
_RETRY_SECONDS = 60.0
# A question must not wait long for a list that it can do without.
_FETCH_SECONDS = 5.0


@dataclass(slots=True)
class ModelCatalog:
    """Which models there are. `by_family`: any model of a listed family counts as known (the simulator's rule).

    `read` reads an entry of the upstream's list; it returns None for one that is not to be listed. The file on disk
    holds the entries as the upstream sent them.
    """

    fetch: Callable[[], Awaitable[list[JsonObject]]]
    read: Callable[[JsonObject], ModelFacts | None]
    path: Path
    by_family: bool = False
    _models: list[ModelFacts] = field(default_factory=list[ModelFacts])
    _by_id: dict[str, ModelFacts] = field(default_factory=dict[str, ModelFacts])
    _fetched: float = 0.0
    _tried: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def load(self) -> None:
        """Read the last catalogue from disk, where there is one."""
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
        """Return what is listed, fetched anew when it is old, and when it was fetched (epoch seconds, 0: never)."""
        if time() - self._fetched > _FRESH_SECONDS:
            await self._refresh()
        return self._models, self._fetched

    async def check(self, model: str) -> None:
        """Raise RequestError for a model that the catalogue does not have; without a catalogue any id may pass."""
        if not self._by_id:
            await self._refresh()
        if self._knows(model):
            return
        await self._refresh()
        if not self._knows(model):
            raise RequestError(Code.UNKNOWN_MODEL, f"The model list has no model {model[:100]!r}.", "model")

    def entry(self, model: str) -> ModelFacts | None:
        """Return what is listed of a model, by its id or by that of which it is a variant (`:free`)."""
        return self._by_id.get(model) or self._by_id.get(model.rpartition(":")[0])

    def _knows(self, model: str) -> bool:
        if not self._by_id or model in self._by_id or model.startswith("@preset/"):
            return True
        base, _, variant = model.rpartition(":")
        if variant and base in self._by_id:  # :free, :nitro, :floor, :online name a way to route
            return True
        family = model.partition("/")[0]
        return self.by_family and "/" in model and any(known.startswith(f"{family}/") for known in self._by_id)

    @property
    def _was_tried(self) -> bool:
        return time() - self._tried < _RETRY_SECONDS

    async def _refresh(self) -> None:
        """Fetch the list anew, unless that was tried a moment ago; concurrent callers wait for it."""
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
        models = [model for entry in entries if (model := self.read(entry)) is not None]
        return models, {model.id: model for model in models}

    def _save(self, entries: list[JsonObject]) -> None:
        """Write beside, then rename: a reader never sees half a file."""
        try:
            with NamedTemporaryFile(dir=self.path.parent, delete=False) as file:
                file.write(orjson.dumps({"fetched": self._fetched, "data": entries}))
            Path(file.name).replace(self.path)
        except OSError as error:
            _log.warning("catalog.unwritable", error=type(error).__name__)
