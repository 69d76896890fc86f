"""asyncpg, as much of it as is used here, with its types: the package tells none."""

from collections.abc import Callable
from typing import Any, Protocol, cast

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

CONNECT_SECONDS = 5.0

DriverError: type[Exception] = asyncpg.PostgresError
Heard = Callable[[Any, int, str, object], None]
"""Told of a notification: connection, process id of the sender's server, channel, payload."""


class Driver(Protocol):
    """A connection of asyncpg."""

    async def fetchval(self, query: str, *values: object, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - its
        """Return the first value of the first row."""

    async def add_listener(self, channel: str, heard: Heard) -> None:
        """Be told of notifications."""

    def add_termination_listener(self, ended: Callable[[Any], None]) -> None:
        """Be told when the connection ends."""

    def terminate(self) -> None:
        """Drop the connection without a word."""


async def connect(url: str) -> Driver:
    """Connect in time; raises OSError, TimeoutError, DriverError."""
    asked = cast(Any, asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]
    named = {"application_name": "signalbox"}
    return cast(Driver, await asked(url, timeout=CONNECT_SECONDS, server_settings=named))
