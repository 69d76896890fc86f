"""The SQLite file: location, permissions, secure deletion, transactions, errors."""

import asyncio
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.engines import sqlite as database_module
from signalbox.store.engines.sqlite import SqliteDatabase
from signalbox.store.runs.rows import opening_row
from signalbox.store.tables import JOURNAL, RUNS
from sqlalchemy import Connection, delete, insert, select
from structlog.testing import capture_logs

from tests.support.disk import FileDisk, a_run, until

pytestmark = pytest.mark.anyio
CANARY = "canary-model-8812"


def put(connection: Connection, run_id: str = "r", model: str = "m") -> None:
    """Keep a run."""
    connection.execute(insert(RUNS).values(opening_row(replace(a_run(run_id), model=model))))


def kept(connection: Connection) -> int:
    """Count the runs that are kept."""
    return len(connection.execute(select(RUNS.c.id)).all())


def files(folder: Path) -> list[Path]:
    """Return what lies there."""
    return sorted(folder.iterdir())


async def test_every_connection_is_set_up(disk: FileDisk) -> None:
    """Each connection uses WAL, full synchronisation, secure deletion and foreign keys."""
    names = ("journal_mode", "synchronous", "secure_delete", "foreign_keys", "busy_timeout")

    def settings_of(connection: Connection) -> list[object]:
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]

    for look in (disk.write(settings_of), *(disk.read(settings_of) for _ in range(6))):
        assert await look == ["wal", 2, 1, 1, 5000]


@pytest.mark.parametrize("name", ["signalbox.db", "wh?at.db", "50%20off.db", "#1.db", "a b.db", "höhle.db"])
async def test_the_file_is_private_in_any_folder(tmp_path: Path, name: str) -> None:
    """The database works in a folder of any name, and only its owner can read its files."""
    database = SqliteDatabase(tmp_path / name)
    await database.open()
    await database.write(put)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)}
    assert modes == {name: 0o600, f"{name}-wal": 0o600, f"{name}-shm": 0o600}
    await database.aclose()
    (tmp_path / name).chmod(0o644)
    database = SqliteDatabase(tmp_path / name)
    await database.open()
    await database.read(kept)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)} == {0o600}
    await database.aclose()


async def test_deleted_data_is_erased_from_the_files(disk: FileDisk) -> None:
    """After `erase_deleted`, neither the file nor its log contains deleted text."""
    await disk.write(lambda connection: put(connection, model=CANARY * 50))

    def bytes_of() -> bytes:
        return b"".join(path.read_bytes() for path in files(disk.path.parent))

    assert CANARY.encode() in bytes_of()
    await disk.write(lambda connection: connection.execute(delete(RUNS)))
    await disk.erase_deleted()
    assert CANARY.encode() not in bytes_of()
    await disk.write(put)  # the connection goes on as before
    with pytest.raises(StoreError):
        await disk.write(lambda connection: [put(connection, "other"), put(connection, "r")])
    assert disk.rows("SELECT id FROM runs") == [("r",)]


async def test_a_long_read_does_not_delay_a_deletion(disk: FileDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion does not wait for a long read; the log is emptied after the read."""
    monkeypatch.setattr(database_module, "_CHECKPOINT_MS", 1)
    monkeypatch.setattr(database_module, "_TRUNCATE_SECONDS", 0.0)
    await disk.write(lambda connection: put(connection, model=CANARY))

    def is_left() -> bool:
        return any(CANARY.encode() in path.read_bytes() for path in files(disk.path.parent))

    with closing(sqlite3.connect(disk.path, isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT * FROM runs").fetchall()
        await disk.write(lambda connection: connection.execute(delete(RUNS)))
        with capture_logs() as lines:
            await disk.erase_deleted()
            await disk.erase_deleted()
        assert [line["event"] for line in lines] == ["database.wal_kept"]
        assert is_left()
        await disk.write(put)
    await until(lambda: not is_left())


async def test_a_transaction_is_atomic(disk: FileDisk) -> None:
    """If a function raises, none of its writes is stored, and its exception is raised."""

    def breaks(connection: Connection) -> None:
        put(connection)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await disk.write(breaks)
    assert disk.rows("SELECT id FROM runs") == []


async def test_an_error_contains_neither_statement_nor_values(disk: FileDisk) -> None:
    """Neither the error nor the log contains the statement or its values."""
    await disk.write(lambda connection: put(connection, model=CANARY))
    with capture_logs() as lines, pytest.raises(StoreError) as refused:
        await disk.write(lambda connection: put(connection, model=CANARY))
    assert refused.value.code is Code.INTERNAL
    assert refused.value.__cause__ is None
    assert lines == [{"event": "database.failed", "error": "IntegrityError", "log_level": "error"}]
    with pytest.raises(StoreError) as gone:
        await disk.read(lambda connection: connection.exec_driver_sql("SELECT * FROM nothing"))
    assert gone.value.code is Code.STORE_UNAVAILABLE
    assert CANARY not in str(refused.value) + str(gone.value)


async def test_readers_do_not_wait_for_the_writer(disk: FileDisk) -> None:
    """During a write transaction, reads return the committed state."""
    inside, leave = threading.Event(), threading.Event()

    def stays(connection: Connection) -> None:
        put(connection)
        inside.set()
        assert leave.wait(10)

    writing = asyncio.create_task(disk.write(stays))
    await asyncio.to_thread(inside.wait, 10)
    assert await disk.read(kept) == 0
    leave.set()
    await writing
    assert await disk.read(kept) == 1


async def test_deleting_a_run_deletes_its_events(disk: FileDisk) -> None:
    """Events are deleted with their run, and cannot be inserted without one."""
    row = {"run_id": "r", "first_seq": 1, "last_seq": 1, "frames": b"[]"}
    await disk.write(put)
    await disk.write(lambda connection: connection.execute(insert(JOURNAL).values(row)))
    await disk.write(lambda connection: connection.execute(delete(RUNS)))
    assert disk.rows("SELECT run_id FROM journal") == []
    with pytest.raises(StoreError):
        await disk.write(lambda connection: connection.execute(insert(JOURNAL).values(row)))


async def test_closing_leaves_no_thread_and_no_log(tmp_path: Path) -> None:
    """After closing, there is one file and no thread."""
    others = {*threading.enumerate()}  # an app that other tests share may run beside
    database = SqliteDatabase(tmp_path / "signalbox.db")
    await database.open()
    await asyncio.gather(*(database.read(lambda connection: None) for _ in range(8)))
    assert any(thread.name.startswith("database-") for thread in {*threading.enumerate()} - others)
    await database.aclose()
    assert not any(thread.name.startswith("database-") for thread in {*threading.enumerate()} - others)
    assert [path.name for path in files(tmp_path)] == ["signalbox.db"]
