"""Types for the parts of asyncpg used here; the package has none."""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import asyncpg  # pyright: ignore[reportMissingTypeStubs]

# Shorter than the caller's timeout, so that a server that does not respond has a distinct error.
CONNECT_SECONDS = 4.0

DriverError: type[Exception] = asyncpg.PostgresError
"""An error that the server reports."""
DriverFault: type[Exception] = asyncpg.InterfaceError
"""An error of asyncpg: a closed connection, an invalid value or address."""
Heard = Callable[[Any, int, str, object], None]
"""Called with a notification: connection, the sender's process id, channel, payload."""


class Driver(Protocol):
    """An asyncpg connection."""

    async def fetchval(self, query: str, *values: object, timeout: float | None = None) -> Any:  # noqa: ASYNC109 - its
        """Return the first value of the first row."""

    async def add_listener(self, channel: str, heard: Heard) -> None:
        """Call `heard` for each notification."""

    def add_termination_listener(self, ended: Callable[[Any], None]) -> None:
        """Call `ended` when the connection ends."""

    def is_closed(self) -> bool:
        """Return whether the connection has ended."""
        ...

    def terminate(self) -> None:
        """Close the connection at once, without the protocol's goodbye."""


async def connect(url: str) -> Driver:
    """Connect to the first host that answers, with a timeout; raises OSError, ValueError, DriverError, DriverFault."""
    hosts = 1 + urlsplit(url).netloc.rpartition("@")[2].count(",")
    asked = cast(Any, asyncpg.connect)  # pyright: ignore[reportUnknownMemberType]
    named = {"application_name": "signalbox"}
    async with asyncio.timeout(CONNECT_SECONDS):
        return cast(Driver, await asked(url, timeout=CONNECT_SECONDS / hosts, server_settings=named))


def is_misuse(error: BaseException | None) -> bool:
    """Return whether asyncpg could not encode a value for the server."""
    return isinstance(error, DriverFault) and isinstance(error, ValueError)
