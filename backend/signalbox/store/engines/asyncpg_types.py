"""asyncpg, as much of it as is used here, with its types: the package tells none."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

# Shorter than the caller's total timeout, so that a silent server has a distinct error.
CONNECT_SECONDS = 4.0

DriverError: type[Exception] = asyncpg.PostgresError
"""What the server refuses."""
DriverFault: type[Exception] = asyncpg.InterfaceError
"""What asyncpg itself refuses: a connection that was closed, a value or an address that makes no sense."""
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

    def is_closed(self) -> bool:
        """Whether it has ended, by whomever."""
        ...

    def terminate(self) -> None:
        """Drop the connection without a word."""


async def connect(url: str) -> Driver:
    """Connect in time, to the first host that answers; raises OSError, ValueError, DriverError, DriverFault."""
    hosts = 1 + urlsplit(url).netloc.rpartition("@")[2].count(",")
    asked = cast(Any, asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]
    named = {"application_name": "signalbox"}
    async with asyncio.timeout(CONNECT_SECONDS):
        return cast(Driver, await asked(url, timeout=CONNECT_SECONDS / hosts, server_settings=named))


def is_misuse(error: BaseException | None) -> bool:
    """Whether asyncpg could not even write a value for the server."""
    return isinstance(error, DriverFault) and isinstance(error, ValueError)
