"""The lever of several workers: a row of the database they share, heard by a notice and by looking twice a second."""

import asyncio
from contextlib import AsyncExitStack, suppress

import orjson
import structlog

from signalbox.core.errors import StoreError
from signalbox.flags.lever import Lever, json_of, lever_of
from signalbox.store.database import Database, quietly
from signalbox.store.shared_values import LEVER, get_shared, pull_shared_lever, shared_once

# A pull acts on every worker within a second even where its notice was lost.
_LOOK_SECONDS = 0.5

_log = structlog.get_logger()


class SharedLever:
    """How the lever stood when this worker last heard of it; while the database is gone, that goes on to count."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._value: bytes | None = None
        self._lever: Lever | None = None
        self._is_reached = True
        self._turn = asyncio.Lock()  # of two looks at once the older one may come in last

    async def open(self, before: Lever | None, stack: AsyncExitStack) -> None:
        """Learn how it stands and look again and again until `stack` ends it; raises StoreError.

        `before` is how a lever stood that this worker had to itself: it is taken over unless the database has one.
        """
        if before is not None:
            await self._database.write(shared_once, LEVER, json_of(before))
        self._take(await self._database.read(get_shared, LEVER))
        looking = asyncio.create_task(self._look(), name="lever")
        stack.push_async_callback(_end, looking)

    def read(self) -> Lever | None:
        """Return how the lever stood when it was last heard of, None where it was never pulled."""
        return self._lever

    async def pull(self, lever: Lever) -> None:
        """Set the lever for all workers; raises StoreError."""
        value = json_of(lever)
        async with self._turn:
            await self._database.write(pull_shared_lever, value)
            self._take(value)

    async def refresh(self) -> None:
        """Look how the lever stands, and keep to what was heard last where the database does not answer."""
        async with self._turn:
            try:
                with quietly():
                    value = await self._database.read(get_shared, LEVER)
            except StoreError:
                self._reached(False)
                return
            self._reached(True)
            self._take(value)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            await self.refresh()

    def _take(self, value: bytes | None) -> None:
        """Read what the row says; like the file's, one that cannot be understood counts as off."""
        if value == self._value:
            return
        self._value = value
        try:
            self._lever = None if value is None else lever_of(orjson.loads(value))
        except ValueError as error:
            _log.error("flag.unreadable", file=None, error=type(error).__name__, stands="off")
            self._lever = Lever("off")

    def _reached(self, is_reached: bool) -> None:
        if is_reached and not self._is_reached:
            _log.info("flag.heard_again")
        elif self._is_reached and not is_reached:
            _log.warning("flag.unheard")
        self._is_reached = is_reached


async def _end(looking: asyncio.Task[None]) -> None:
    looking.cancel()
    with suppress(asyncio.CancelledError):
        await looking
