"""Inspects an SQLite file without changing it: revision and integrity."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, create_engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.store.migrate import HEAD, SCRIPTS, version_on

_STEPS = 20_000  # SQLite instructions between two checks of the clock


@dataclass(frozen=True, slots=True)
class FileFound:
    """The state of an SQLite file; `fault` is the first integrity error, `is_whole` whether the check finished."""

    version: str | None
    size: int
    fault: str | None = None
    is_whole: bool = True


def is_known(version: str) -> bool:
    """Return whether a revision is this version's or an earlier one."""
    return any(path.name.startswith(f"{version}_") for path in (SCRIPTS / "versions").glob("*.py"))


def is_current(version: str | None) -> bool:
    """Return whether the tables need no migration."""
    return version == HEAD


def inspect_file(path: Path, seconds: float) -> FileFound:
    """Inspect an SQLite file for at most `seconds`, also while a server uses it; raises StoreError.

    Without its log files there is no writer; the file is then opened as immutable, so that SQLite does not create them.
    """
    log = [path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm")]
    query = {"uri": "true", "mode": "ro"} if all(one.exists() for one in log) else {"uri": "true", "immutable": "1"}
    address = URL.create("sqlite", database=f"file:{quote(str(path.absolute()))}", query=query)
    size = sum(one.stat().st_size for one in (path, *log) if one.exists())
    try:
        with create_engine(address, poolclass=NullPool).connect() as connection:
            version = version_on(connection)
            fault, is_whole = _first_fault(connection, seconds)
            return FileFound(version, size, fault, is_whole)
    except (SQLAlchemyError, OSError):
        raise StoreError(Code.STORE_UNAVAILABLE) from None


def _first_fault(connection: Connection, seconds: float) -> tuple[str | None, bool]:
    raw: Any = connection.connection.dbapi_connection
    end = time.monotonic() + seconds
    raw.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        said = connection.execute(text("PRAGMA quick_check(1)")).scalar()
    except SQLAlchemyError:
        if time.monotonic() > end:
            return None, False
        raise
    return (None if said == "ok" else str(said)), True
