"""Reads the rows of the write buffer and the files of the database."""

from pathlib import Path

from msgspec import json

from tests.support.disk import Disk, until


def rows_of(disk: Disk) -> list[dict[str, list[int]]]:
    """Return each row of the buffer as sequence numbers by run id."""
    rows = disk.rows("SELECT said FROM latest ORDER BY id")
    return [{run_id: [stamped["seq"] for stamped in events] for run_id, events in json.decode(row)} for (row,) in rows]


def is_in_a_file(word: bytes, folder: Path) -> bool:
    """Return whether a file of a folder contains these bytes."""
    return any(word in path.read_bytes() for path in folder.iterdir())


async def flushed(disk: Disk) -> None:
    """Wait until the timer has flushed."""
    before = disk.transactions
    await until(lambda: disk.transactions > before)
