"""A database as version 0.1 wrote it, to be opened with the current code.

It holds a complete run with a save of it, one of whose calls was cut; a run that was stopped in its tool; and an
unfinished run. Each belongs to a conversation. The provider was scripted.
"""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

from signalbox.store.engines.sqlite import SqliteDatabase
from signalbox.store.schema import METADATA
from sqlalchemy import Connection, LargeBinary, insert

_FILE = Path(__file__).parent / "data" / "version-0.1.json"
_ROWS: dict[str, list[dict[str, Any]]] = json.loads(_FILE.read_bytes())

COMPLETE, STOPPED, OPEN = (row["id"] for row in _ROWS["runs"])
[SAVE] = (row["id"] for row in _ROWS["saves"])


def put_rows(connection: Connection, *, unfiled: bool = False) -> None:
    """Insert the rows; with `unfiled`, the latest events of the unfinished run are still in the table `latest`."""
    for name, rows in _ROWS.items():
        table = METADATA.tables[name]
        binary = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
        for row in rows:
            values = {
                key: value.encode() if key in binary and value is not None else value for key, value in row.items()
            }
            if unfiled and name == "journal" and row["run_id"] == OPEN:
                said = json.dumps([[OPEN, json.loads(row["frames"])]], separators=(",", ":")).encode()
                connection.execute(insert(METADATA.tables["latest"]).values(id=1, said=said))
            else:
                connection.execute(insert(table).values(values))


def make_file(path: Path) -> None:
    """Make a SQLite file in which the latest events are still in the table `latest`."""
    asyncio.run(_make(path))


async def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = SqliteDatabase(path)
    await database.open()
    await database.write(partial(put_rows, unfiled=True))
    await database.aclose()
