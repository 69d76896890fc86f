"""Databases whose writes a test can hold, fail and count, and read and change with plain SQL."""

import asyncio
import re
import sqlite3
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Stamped
from signalbox.core.records import RunRecord
from signalbox.store.database import Bound, Database, P, Value
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.engines.sqlite import SqliteDatabase
from signalbox.store.runs import journal
from signalbox.store.runs.journal import JournalStore
from sqlalchemy import Connection

from tests.support.postgres import Server


class Disk(Database):
    """A database under a test's control.

    `hold()` delays writes, `failing` makes them fail, `transactions` counts committed writes.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.transactions = self.refused = 0
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

    @abstractmethod
    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a query without the product's code; `?` marks the parameters."""

    @abstractmethod
    def change(self, query: str) -> None:
        """Change rows without the product's code."""

    @abstractmethod
    def again(self) -> Database:
        """Open the database a second time, as another process would."""

    def seqs(self, run_id: str) -> list[tuple[int, int]]:
        """Return the first and last number of each row of a run's journal."""
        query = "SELECT first_seq, last_seq FROM journal WHERE run_id = ? ORDER BY first_seq"
        return [(first, last) for first, last in self.rows(query, run_id)]

    def reserved(self, run_id: str) -> int:
        return self.rows("SELECT reserved FROM runs WHERE id = ?", run_id)[0][0]


class FileDisk(Disk, SqliteDatabase):
    """SQLite. `steps` counts the instructions that reads execute, in units of ten."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path
        self.steps = 0

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
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
            return connection.execute(query, values).fetchall()

    def change(self, query: str) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute(query)
            connection.commit()

    def again(self) -> Database:
        return SqliteDatabase(self.path)


class ServerDisk(Disk, PostgresDatabase):
    """PostgreSQL."""

    def __init__(self, url: str, server: Server) -> None:
        super().__init__(url)
        self.url = url
        self._server = server

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        numbers = count(1)
        return self._server.sql(re.sub(r"\?", lambda _: f"${next(numbers)}", query), *values, database=self.url)

    def change(self, query: str) -> None:
        self._server.sql(query, database=self.url)

    def again(self) -> Database:
        return PostgresDatabase(self.url)


def a_run(run_id: str, **fields: Any) -> RunRecord:
    """Make the record of a run that starts."""
    return RunRecord(run_id, "openai/sim", "v2", **fields)


def words(first: int, last: int) -> list[Stamped]:
    """Make text events with these numbers."""
    return [Stamped(seq, 0, Content(str(seq))) for seq in range(first, last + 1)]


async def opened(store: JournalStore, *run_ids: str, told: Callable[[int, int], None] | None = None) -> None:
    """Open several runs at once."""
    await asyncio.gather(*(store.open(a_run(run_id), told or (lambda seq, reserved: None)) for run_id in run_ids))


async def until(holds: Callable[[], bool]) -> None:
    """Let the event loop and its threads run until a condition holds."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the state sets no event
            await asyncio.sleep(0)


BOTH = ("sqlite", "postgres")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a module's tests on each database that it lists in DATABASES."""
    named = getattr(metafunc.module, "DATABASES", None)
    if named is not None and "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", named, scope="session")


@pytest.fixture
def kind() -> str:
    """Return the kind of database of this test; modules list others in DATABASES."""
    return "sqlite"


def new_disk(kind: str, folder: Path, request: pytest.FixtureRequest) -> Disk:
    """Make a database of this kind without opening it."""
    if kind == "sqlite":
        return FileDisk(folder / "signalbox.db")
    server: Server = request.getfixturevalue("postgres")
    return ServerDisk(server.new_database(), server)


@pytest.fixture
async def disk(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncGenerator[Disk, None]:
    """Open a database whose writes the test can hold and fail."""
    database = new_disk(kind, tmp_path, request)
    await database.open()
    yield database
    database.release()
    await database.aclose()


@pytest.fixture
async def store(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[JournalStore, None]:
    """Make a store that writes and retries without delays."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(journal, "_RETRY_SECONDS", 0.0)
    made = JournalStore(disk)
    yield made
    disk.failing = None
    disk.release()
    await made.aclose()


async def ended(store: JournalStore, run_id: str) -> None:
    """Open a run and end it."""
    await opened(store, run_id)
    store.save_figures(run_id, lambda: a_run(run_id, status="complete", ended=2.0))
    await store.flush()
    store.close(run_id)
