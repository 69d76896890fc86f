"""A database whose writes a test holds, breaks and counts, and a look at its file that shares no line with it."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.errors import Code, StoreError
from signalbox.core.events import Content, Stamped
from signalbox.core.records import RunRecord
from signalbox.store import journal
from signalbox.store.database import Bound, P, Value
from signalbox.store.journal import JournalStore
from signalbox.store.sqlite import SqliteDatabase
from sqlalchemy import Connection


class Disk(SqliteDatabase):
    """`hold()` keeps writes waiting, `failing` has them fail; `transactions` counts those that went through.

    `steps` counts what reads make SQLite do, in tens of its instructions.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path
        self.transactions = self.refused = self.steps = 0
        self.failing: Code | None = None
        self._gate = asyncio.Event()
        self._gate.set()
        self.asked = asyncio.Event()

    def hold(self) -> None:
        self._gate.clear()
        self.asked.clear()

    def release(self) -> None:
        self._gate.set()

    async def write(self, work: Bound[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
        self.asked.set()
        await self._gate.wait()
        if self.failing is not None:
            self.refused += 1
            raise StoreError(self.failing)
        value = await super().write(work, *args, **kwargs)
        self.transactions += 1
        return value

    async def read(self, work: Bound[P, Value], *args: P.args, **kwargs: P.kwargs) -> Value:
        def counted(connection: Connection) -> Value:
            raw: Any = connection.connection.driver_connection
            raw.set_progress_handler(self._step, 10)
            try:
                return work(connection, *args, **kwargs)
            finally:
                raw.set_progress_handler(None, 0)

        return await super().read(counted)

    def _step(self) -> int:
        self.steps += 1
        return 0

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Look into the file."""
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            return connection.execute(query, values).fetchall()

    def seqs(self, run_id: str) -> list[tuple[int, int]]:
        """Return the first and the last number of each of a run's rows."""
        query = "SELECT first_seq, last_seq FROM journal WHERE run_id = ? ORDER BY first_seq"
        return [(first, last) for first, last in self.rows(query, run_id)]

    def reserved(self, run_id: str) -> int:
        return self.rows("SELECT reserved FROM runs WHERE id = ?", run_id)[0][0]


def a_run(run_id: str, **fields: Any) -> RunRecord:
    """Make the record of a run that starts."""
    return RunRecord(run_id, "openai/sim", "v2", **fields)


def words(first: int, last: int) -> list[Stamped]:
    """Make events with these numbers."""
    return [Stamped(seq, 0, Content(str(seq))) for seq in range(first, last + 1)]


async def opened(store: JournalStore, *run_ids: str, told: Callable[[int, int], None] | None = None) -> None:
    """Open runs, all at once."""
    await asyncio.gather(*(store.open(a_run(run_id), told or (lambda seq, reserved: None)) for run_id in run_ids))


async def until(holds: Callable[[], bool]) -> None:
    """Let the loop and its threads work until this holds."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - what is waited for is a state, which tells nobody of itself
            await asyncio.sleep(0)


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncGenerator[Disk, None]:
    """Open a database that the test can hold and break."""
    database = Disk(tmp_path / "signalbox.db")
    await database.open()
    yield database
    database.release()
    await database.aclose()


@pytest.fixture
async def store(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[JournalStore, None]:
    """Write at once, and try again at once."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(journal, "_RETRY_SECONDS", 0.0)
    made = JournalStore(disk)
    yield made
    disk.failing = None
    disk.release()
    await made.aclose()
