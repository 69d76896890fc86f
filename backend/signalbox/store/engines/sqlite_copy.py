"""Copies a consistent state of an SQLite file, also while a server writes to it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

_BUSY_SECONDS = 30.0


def copy_file(source: Path, copy: Path) -> None:
    """Copy with VACUUM INTO; the copy must not exist, and only its owner can read it. Raises StoreError."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(source, timeout=_BUSY_SECONDS)) as database:
            database.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error:
        raise StoreError(Code.STORE_UNAVAILABLE) from None
