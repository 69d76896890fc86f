"""Looks at a PostgreSQL server without changing anything: version, tables, wake-ups, how fast it answers, its clock."""

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import Any

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.engines.asyncpg_types import Driver, DriverError, connect
from signalbox.store.shared_values import OVERRIDE

_LISTEN_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ServerFound:
    """A PostgreSQL server; times in seconds, `ahead` is how far its clock is ahead of this machine's.

    `may_make` says that tables can be made; `lever` is the workers' as it is kept, None where it was never pulled.
    """

    software: str
    version: str | None
    may_make: bool
    wakes: bool
    latency: float
    ahead: float
    lever: bytes | None


async def look_at_server(url: str) -> ServerFound:
    """Ask a server; raises StoreError with what it said, TimeoutError."""
    try:
        connection = await connect(url)
    except TimeoutError:
        raise
    except ValueError:  # not in its words: they quote the address, and with it the password
        raise StoreError(Code.STORE_UNAVAILABLE, "the address in DATABASE_URL cannot be read") from None
    except (OSError, DriverError) as error:
        raise StoreError(Code.STORE_UNAVAILABLE, f"{error}".rstrip(".") or type(error).__name__) from None
    try:
        return await _look(connection)
    except DriverError as error:
        raise StoreError(Code.STORE_UNAVAILABLE, f"{error}".rstrip(".")) from None
    finally:
        connection.terminate()


async def _look(connection: Driver) -> ServerFound:
    software = f"PostgreSQL {await connection.fetchval('SHOW server_version')}"
    begun, clock = time.monotonic(), time.time()
    theirs = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
    latency = time.monotonic() - begun
    has_tables = await connection.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL")
    version = await connection.fetchval("SELECT version_num FROM alembic_version") if has_tables else None
    may_make = await connection.fetchval("SELECT has_schema_privilege(current_schema(), 'CREATE')")
    return ServerFound(
        software=software,
        version=version,
        may_make=bool(may_make),  # NULL where there is no schema to make anything in
        wakes=await _wakes(connection),
        latency=latency,
        ahead=theirs - clock - latency / 2,
        lever=await _lever(connection),
    )


async def _lever(connection: Driver) -> bytes | None:
    if not await connection.fetchval("SELECT to_regclass('shared') IS NOT NULL"):
        return None
    return await connection.fetchval("SELECT value FROM shared WHERE name = $1", OVERRIDE)


async def _wakes(connection: Driver) -> bool:
    """Whether a notification comes back: it does not through a pooler that hands out another session each time."""
    heard, channel = asyncio.Event(), f"signalbox_doctor_{secrets.token_hex(4)}"

    def hear(connection: Any, sender: int, channel: str, payload: object) -> None:
        heard.set()

    try:
        await connection.add_listener(channel, hear)
        await connection.fetchval("SELECT pg_notify($1, '')", channel)
        async with asyncio.timeout(_LISTEN_SECONDS):
            await heard.wait()
    except (TimeoutError, DriverError):
        return False
    return True
