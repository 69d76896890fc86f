"""Calls to PostgreSQL that fail, time out or recover, for tests of the engine."""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Stamped
from signalbox.store import saves
from signalbox.store.database import Database
from signalbox.store.engines import postgres, timeouts
from sqlalchemy import Connection, text

# Timeouts of the engine after `shorten_timeouts`, in seconds.
SECONDS = 0.4
# Turns a call that never ends into a failure.
HANG = 30.0


def shorten_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten all timeouts; call it after the steps that must succeed on a busy machine."""
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", SECONDS)
    monkeypatch.setattr(postgres, "LOCK_SECONDS", SECONDS)
    monkeypatch.setattr(postgres, "_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 0.1)


def one(connection: Connection) -> int:
    """Execute a trivial query."""
    return connection.execute(text("SELECT 1")).scalar_one()


async def refused(call: Any) -> float:
    """Expect that a call fails with STORE_UNAVAILABLE; return the seconds that it took."""
    begun = time.monotonic()
    with pytest.raises(StoreError) as error:
        async with asyncio.timeout(HANG):
            await call
    assert error.value.code is Code.STORE_UNAVAILABLE
    return time.monotonic() - begun


def is_refused_at_once(call: Coroutine[Any, Any, Any]) -> bool:
    """Return whether a call fails with STORE_UNAVAILABLE before it awaits anything."""
    try:
        call.send(None)
    except StoreError as error:
        return error.code is Code.STORE_UNAVAILABLE
    finally:
        call.close()
    return False


async def recovered(database: Database) -> None:
    """Wait until the database answers."""
    async with asyncio.timeout(HANG):
        while True:
            with suppress(StoreError):
                await database.read(one)
                return
            await asyncio.sleep(0.01)


def a_save(save_id: str) -> tuple[saves.ListedSave, saves.Snapshot, list[Stamped]]:
    """Return the arguments of `add_save`."""
    line = saves.ListedSave(save_id, "T", 1.0, "r", "m", "v2", "complete", 1)
    return line, saves.Snapshot({}, {}, {}), [Stamped(1, 1, Content("x"))]


def run_all(connection: Connection, statements: str) -> None:
    """Execute statements that are separated by semicolons."""
    for statement in statements.split("; "):
        connection.execute(text(statement))
