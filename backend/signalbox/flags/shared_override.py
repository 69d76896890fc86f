"""The override of workers that share a database: one row, refreshed on notification and twice a second."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

import orjson
import structlog

from signalbox.core.errors import StoreError
from signalbox.flags.override import Override, ignore, json_of, override_of
from signalbox.store.database import Database, without_logging
from signalbox.store.shared_values import OVERRIDE, get_shared, set_shared_override, shared_once

# A change reaches every worker within a second even if its notification was lost.
_REFRESH_SECONDS = 0.5

_log = structlog.get_logger()


class SharedOverride:
    """The override as this worker last read it; it stays in effect while the database is unreachable."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._value: bytes | None = None
        self._override: Override | None = None
        self.on_stored: Callable[[Override | None], None] = ignore
        self._is_reachable = True
        self._lock = asyncio.Lock()  # otherwise the older of two concurrent reads may finish last

    async def open(self, before: Override | None, stack: AsyncExitStack) -> None:
        """Load the override and refresh it until `stack` closes; raises StoreError.

        `before` is the override of this worker's data folder; it is stored unless the database has one.
        """
        if before is not None:
            await self._database.write(shared_once, OVERRIDE, json_of(before))
        self._decode(await self._database.read(get_shared, OVERRIDE))
        refreshing = asyncio.create_task(self._refresh_regularly(), name="override")
        stack.push_async_callback(_end, refreshing)

    def current(self) -> Override | None:
        """Return the override as last read, None if none was ever set."""
        return self._override

    async def store(self, override: Override | None) -> None:
        """Store the override for all workers, None to remove it; raises StoreError."""
        value = json_of(override)
        async with self._lock:
            await self._database.write(set_shared_override, value)
            self._decode(value)
        self.on_stored(override)

    async def refresh(self) -> None:
        """Read the override again; the last one stays in effect if the database is unreachable."""
        async with self._lock:
            try:
                with without_logging():
                    value = await self._database.read(get_shared, OVERRIDE)
            except StoreError:
                self._log_reachability(False)
                return
            self._log_reachability(True)
            self._decode(value)

    async def _refresh_regularly(self) -> None:
        while True:
            await asyncio.sleep(_REFRESH_SECONDS)
            await self.refresh()

    def _decode(self, value: bytes | None) -> None:
        """Decode the row; as for the file, a value that cannot be parsed counts as off."""
        if value == self._value:
            return
        self._value = value
        try:
            self._override = None if value is None else override_of(orjson.loads(value))
        except ValueError as error:
            _log.error("flag.override_unreadable", file=None, error=type(error).__name__, effective="off")
            self._override = Override("off")

    def _log_reachability(self, is_reachable: bool) -> None:
        if is_reachable and not self._is_reachable:
            _log.info("flag.store_available")
        elif self._is_reachable and not is_reachable:
            _log.warning("flag.store_unavailable")
        self._is_reachable = is_reachable


async def _end(refreshing: asyncio.Task[None]) -> None:
    refreshing.cancel()
    with suppress(asyncio.CancelledError):
        await refreshing
