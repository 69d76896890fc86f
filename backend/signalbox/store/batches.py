"""The statements of a flush: written once as text, and run for many rows in few steps.

Built anew for each flush, and compiled or looked up, they cost several times what SQLite takes for a small one. Their
words are the same in both databases; only the place of a value is not. SQLite's driver is asked itself: SQLAlchemy
takes longer for its part of a small statement than the driver for all of it.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection, Table

from signalbox.store.portable import readable

Row = Mapping[str, Any]
"""Values by column; all rows of one batch name the same columns in the same order."""

# How many rows go into SQLite by one statement: Python's lock is let go and asked for again for each that runs, and the
# loop wants it too. Few sizes, so that all of them stay prepared; the widest table has 26 columns, so that the largest
# size is far below the 32,766 values that one statement may have.
SIZES = (128, 64, 32, 16, 8, 4, 2, 1)


def insert(connection: Connection, table: Table, rows: Sequence[Row], replaced: tuple[str, ...] = ()) -> None:
    """Insert rows; of one that is there already, by its primary key, these columns are replaced."""
    if not rows:
        return
    names = tuple(rows[0])
    if _is_server(connection):  # its driver sends all rows at once
        _run_each(connection, _insertion(table, names, replaced, _numbered(names)), rows)
        return
    for some in _in_sizes(rows):
        text = _insertion(table, names, replaced, _marked(names), len(some))
        driver_of(connection).execute(text, [value for row in some for value in row.values()])


def change(connection: Connection, table: Table, rows: Sequence[Row], only: str = "") -> None:
    """Change rows: the last value of each is the `id` of the one that it is for; `only` is one more condition."""
    if not rows:
        return
    names = tuple(rows[0])
    if _is_server(connection):
        _run_each(connection, _change(table, names, _numbered(names), only), rows)
        return
    text = _change(table, names, _marked(names), only)
    driver_of(connection).executemany(text, [tuple(row.values()) for row in rows])


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Return SQLite's own connection, whose errors are its own, too."""
    return cast(sqlite3.Connection, connection.connection.driver_connection)


def _is_server(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _run_each(connection: Connection, text: str, rows: Sequence[Row]) -> None:
    connection.exec_driver_sql(text, [tuple(map(_taken, row.values())) for row in rows])


def _taken(value: Any) -> Any:
    return readable(value) if isinstance(value, str) else value


def _in_sizes(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Cut rows into pieces of the sizes that are prepared, the largest first."""
    at = 0
    for size in SIZES:
        while len(rows) - at >= size:
            yield rows[at : at + size]
            at += size


def _marked(names: tuple[str, ...]) -> tuple[str, ...]:
    return ("?",) * len(names)


def _numbered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"${number}" for number in range(1, len(names) + 1))


@cache
def _insertion(
    table: Table, names: tuple[str, ...], replaced: tuple[str, ...], places: tuple[str, ...], rows: int = 1
) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join([f"({', '.join(places)})"] * rows)
    keys = ", ".join(column.name for column in table.primary_key)
    there = "UPDATE SET " + ", ".join(f'"{name}" = excluded."{name}"' for name in replaced) if replaced else "NOTHING"
    words = f"({columns}) VALUES {values} ON CONFLICT ({keys}) DO {there}"
    return f"INSERT INTO {table.name} {words}"


@cache
def _change(table: Table, names: tuple[str, ...], places: tuple[str, ...], only: str) -> str:
    *rest, key = (f'"{name}" = {place}' for name, place in zip(names, places, strict=True))
    where = f"{key} AND {only}" if only else key
    return f"UPDATE {table.name} SET {', '.join(rest)} WHERE {where}"  # noqa: S608 - the same
