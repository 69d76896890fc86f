"""Inspects a PostgreSQL server without changing it: version, tables, notifications, latency, clock."""

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
    """The state of a PostgreSQL server; times in seconds.

    `may_create` is whether the user may create tables. `has_notifications` is whether NOTIFY reaches LISTEN. `ahead` is
    how far its clock is ahead of this machine's. `override` is the stored flag override, None if none was ever set.
    """

    software: str
    version: str | None
    may_create: bool
    has_notifications: bool
    latency: float
    ahead: float
    override: bytes | None


async def inspect_server(url: str) -> ServerFound:
    """Inspect a server; raises StoreError with the server's message, TimeoutError."""
    try:
        connection = await connect(url)
    except TimeoutError:
        raise
    except ValueError:  # its message quotes the address with the password
        raise StoreError(Code.STORE_UNAVAILABLE, "the address in DATABASE_URL cannot be read") from None
    except (OSError, DriverError) as error:
        raise StoreError(Code.STORE_UNAVAILABLE, f"{error}".rstrip(".") or type(error).__name__) from None
    try:
        return await _inspect(connection)
    except DriverError as error:
        raise StoreError(Code.STORE_UNAVAILABLE, f"{error}".rstrip(".")) from None
    finally:
        connection.terminate()


async def _inspect(connection: Driver) -> ServerFound:
    software = f"PostgreSQL {await connection.fetchval('SHOW server_version')}"
    begun, clock = time.monotonic(), time.time()
    theirs = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
    latency = time.monotonic() - begun
    has_tables = await connection.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL")
    version = await connection.fetchval("SELECT version_num FROM alembic_version") if has_tables else None
    may_create = await connection.fetchval("SELECT has_schema_privilege(current_schema(), 'CREATE')")
    return ServerFound(
        software=software,
        version=version,
        may_create=bool(may_create),  # NULL if there is no schema
        has_notifications=await _has_notifications(connection),
        latency=latency,
        ahead=theirs - clock - latency / 2,
        override=await _stored_override(connection),
    )


async def _stored_override(connection: Driver) -> bytes | None:
    if not await connection.fetchval("SELECT to_regclass('shared') IS NOT NULL"):
        return None
    return await connection.fetchval("SELECT value FROM shared WHERE name = $1", OVERRIDE)


async def _has_notifications(connection: Driver) -> bool:
    """Return whether a notification comes back; it does not through a pooler that pools by transaction."""
    heard, channel = asyncio.Event(), f"signalbox_doctor_{secrets.token_hex(4)}"

    def on_notification(connection: Any, sender: int, channel: str, payload: object) -> None:
        heard.set()

    try:
        await connection.add_listener(channel, on_notification)
        await connection.fetchval("SELECT pg_notify($1, '')", channel)
        async with asyncio.timeout(_LISTEN_SECONDS):
            await heard.wait()
    except (TimeoutError, DriverError):
        return False
    return True
