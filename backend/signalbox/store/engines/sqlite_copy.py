"""Copies an SQLite file as of one moment, also while a server writes it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

_BUSY_SECONDS = 30.0


def copy_file(source: Path, copy: Path) -> None:
    """Have SQLite write the copy, which must not exist yet and which only its owner can read; raises StoreError."""
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(sqlite3.connect(source, timeout=_BUSY_SECONDS)) as database:
            database.execute("VACUUM INTO ?", (str(copy),))
    except sqlite3.Error:
        raise StoreError(Code.STORE_UNAVAILABLE) from None
