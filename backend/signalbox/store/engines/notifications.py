"""Notifications between workers by LISTEN and NOTIFY. They only wake waiting tasks, so losing one does no harm."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from signalbox.core.errors import StoreError
from signalbox.store.engines.asyncpg_types import CONNECT_SECONDS, Driver, DriverError, DriverFault
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.runs.leases import CHANNEL, notify

_log = structlog.get_logger()
_RETRY_SECONDS = 1.0
# A lost connection is noticed after this time plus the timeout of the ping.
_PING_SECONDS = 5.0


class Notifications:
    """Sends notifications to all workers and receives theirs; `heard` is called with each line.

    `is_listening` is false while there is no connection, and then nothing is received.
    """

    def __init__(self, database: PostgresDatabase, heard: Callable[[str], None]) -> None:
        self._database = database
        self._heard = heard
        self.is_listening = False

    async def notify(self, *words: str) -> None:
        """Send each line to all workers, including this one; raises StoreError."""
        await self._database.write(notify, *words)

    async def listen(self) -> None:
        """Receive notifications until cancelled, reconnecting as needed."""
        while True:
            with suppress(StoreError, OSError, ValueError, DriverError, DriverFault):
                await self._listen_once()
            if self.is_listening:
                _log.warning("notifications.disconnected")
            self.is_listening = False
            await asyncio.sleep(_RETRY_SECONDS)

    async def _listen_once(self) -> None:
        """Listen on one connection until it breaks."""
        connection = await self._database.connect()
        try:
            await self._listen_on(connection)
        finally:
            connection.terminate()

    async def _listen_on(self, connection: Driver) -> None:
        ended = asyncio.Event()
        connection.add_termination_listener(lambda _: ended.set())
        async with asyncio.timeout(CONNECT_SECONDS):
            await connection.add_listener(CHANNEL, lambda _1, _2, _3, payload: self._heard(str(payload)))
        self.is_listening = True
        while not ended.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(_PING_SECONDS):
                    await ended.wait()
                return
            await connection.fetchval("SELECT 1", timeout=CONNECT_SECONDS)
