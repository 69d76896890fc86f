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

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, SignalboxError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.sizes import LARGE
from signalbox.offload import offloaded

_log = structlog.get_logger()
_FRESH_SECONDS = 3600.0
# A model that is new at the upstream is looked for again, but not on every request.
_RETRY_SECONDS = 60.0
# A question must not wait long for a list that it can do without.
_FETCH_SECONDS = 5.0
# Beyond it is no model's id, and no name of one.
_LONGEST = 256
_BADGES = (
    ("tools", "tools"),
    ("reasoning", "reasoning"),
    ("include_reasoning", "reasoning"),
    ("response_format", "json"),
    ("structured_outputs", "json"),
)


@dataclass(slots=True)
class ModelCatalog:
    """Which models there are. `by_family`: any model of a listed family counts as known (the simulator's rule)."""

    fetch: Callable[[], Awaitable[list[JsonObject]]]
    path: Path
    by_family: bool = False
    _entries: list[JsonObject] = field(default_factory=list[JsonObject])
    _by_id: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    _listings: dict[bool, bytes] = field(default_factory=dict[bool, bytes])
    _fetched: float = 0.0
    _tried: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def load(self) -> None:
        """Read the last catalogue from disk, where there is one."""
        try:
            saved = orjson.loads(self.path.read_bytes())
            self._take(saved["data"], float(saved["fetched"]))
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("catalog.unreadable", error=type(error).__name__)

    async def entries(self) -> tuple[list[JsonObject], float]:
        """Return what is listed, fetched anew when it is old, and when it was fetched (epoch seconds, 0: never)."""
        if time() - self._fetched > _FRESH_SECONDS:
            await self._refresh()
        return self._entries, self._fetched

    async def listing(self, *, hidden: bool = True) -> tuple[bytes, float]:
        """Return what `entries` returns as the API lists it: a list in JSON, written once for all who ask.

        Without `hidden`, entries that are marked so are left out.
        """
        entries, fetched = await self.entries()
        if (listing := self._listings.get(hidden)) is not None:
            return listing, fetched
        wanted = entries if hidden else [entry for entry in entries if not _is_hidden(entry)]
        written = await offloaded(partial(_written, wanted), size=LARGE)
        if entries is self._entries:
            self._listings[hidden] = written
        return written, fetched

    async def check(self, model: str) -> None:
        """Raise RequestError for a model that the catalogue does not have; without a catalogue any id may pass."""
        if not self._by_id:
            await self._refresh()
        if self._knows(model):
            return
        await self._refresh()
        if not self._knows(model):
            raise RequestError(Code.UNKNOWN_MODEL, f"The model list has no model {model[:100]!r}.", "model")

    def entry(self, model: str) -> JsonObject | None:
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
            self._take(entries, time())
            await offloaded(self._save, size=LARGE)

    def _take(self, entries: list[JsonObject], fetched: float) -> None:
        listed = [entry for entry in entries if len(str(entry["id"])) <= _LONGEST]
        self._by_id = {str(entry["id"]): entry for entry in listed}
        self._entries, self._listings, self._fetched = listed, {}, fetched

    def _save(self) -> None:
        """Write beside, then rename: a reader never sees half a file."""
        try:
            with NamedTemporaryFile(dir=self.path.parent, delete=False) as file:
                file.write(orjson.dumps({"fetched": self._fetched, "data": self._entries}))
            Path(file.name).replace(self.path)
        except OSError as error:
            _log.warning("catalog.unwritable", error=type(error).__name__)


def _written(entries: list[JsonObject]) -> bytes:
    return b"[%b]" % b",".join(orjson.dumps(shown(entry)) for entry in entries)


def shown(entry: JsonObject) -> JsonObject:
    """Return an entry as the API lists it, with badges from what it says that it supports.

    A field of another type than it should have is left out: the page would break on it.
    """
    supported = entry.get("supported_parameters")
    named = {item for item in supported if isinstance(item, str)} if isinstance(supported, list) else set[str]()
    badges = {badge for parameter, badge in _BADGES if parameter in named}
    architecture = entry.get("architecture")
    modalities = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    if isinstance(modalities, list) and "image" in modalities:
        badges.add("images")
    host, name, pricing = entry.get("top_provider"), entry.get("name"), entry.get("pricing")
    return {
        "id": entry["id"],
        "name": name[:_LONGEST] if isinstance(name, str) and name else entry["id"],
        "context_length": _number(entry.get("context_length")),
        "max_output": _number(host.get("max_completion_tokens")) if isinstance(host, dict) else None,
        "created": _number(entry.get("created")),
        "pricing": pricing if isinstance(pricing, dict) else None,
        "supported_parameters": [*sorted(named)],
        "badges": [*sorted(badges)],
        "hidden": _is_hidden(entry),
    }


def _is_hidden(entry: JsonObject) -> bool:
    """Tell whether a model is there to be asked for by name and not to be picked: the simulator's faults."""
    return entry.get("hidden") is True


def _number(value: JsonValue) -> JsonValue:
    return value if isinstance(value, int | float) else None
