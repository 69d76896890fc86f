"""Looks at an SQLite file without changing anything: which version its tables are, and whether it is sound."""

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

_STEPS = 20_000  # instructions of SQLite between two looks at the clock


@dataclass(frozen=True, slots=True)
class FileFound:
    """An SQLite file: `fault` is the first one that SQLite names, `is_whole` whether it came to the end of looking."""

    version: str | None
    size: int
    fault: str | None = None
    is_whole: bool = True


def is_known(version: str) -> bool:
    """Whether a version of the tables is this Signalbox's or an earlier one."""
    return any(path.name.startswith(f"{version}_") for path in (SCRIPTS / "versions").glob("*.py"))


def is_current(version: str | None) -> bool:
    """Whether the tables need no migration."""
    return version == HEAD


def look_at_file(path: Path, seconds: float) -> FileFound:
    """Look at a SQLite file for at most so long, also while a server uses it; raises StoreError.

    Reading the log of a server makes its two files where they are not there. Where they are not, there is no
    writer, and the file is read as one that does not change.
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
