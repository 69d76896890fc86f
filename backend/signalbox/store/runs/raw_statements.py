"""The statements of a flush: written once as text, and run for many rows in few steps.

Built anew for each flush, and compiled or looked up, they cost several times what SQLite takes for a small one. Their
words are the same in both databases; only the place of a value is not. SQLite's driver is asked itself: SQLAlchemy
takes longer for its part of a small statement than the driver for all of it.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from operator import methodcaller
from typing import Any, cast

from sqlalchemy import Connection, Table

from signalbox.store.engines.portable_sql import readable

Row = Mapping[str, Any]
"""Values by column; all rows of one batch name the same columns in the same order."""

_values = methodcaller("values")

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
    driver = driver_of(connection)
    for cut in _in_sizes(len(rows)):
        some = rows[cut]
        text = _insertion(table, names, replaced, _marked(names), len(some))
        driver.execute(text, [*chain.from_iterable(map(_values, some))])


def change(connection: Connection, table: Table, rows: Sequence[Row], only: str = "") -> None:
    """Change rows: the last value of each is the `id` of the one that it is for; `only` is one more condition."""
    if not rows:
        return
    names = tuple(rows[0])
    if _is_server(connection):
        _run_each(connection, _change(table, names, _numbered(names), only), rows)
        return
    text = _change(table, names, _marked(names), only)
    driver_of(connection).executemany(text, [*map(tuple, map(_values, rows))])


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Return SQLite's own connection, whose errors are its own, too."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def _is_server(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _run_each(connection: Connection, text: str, rows: Sequence[Row]) -> None:
    connection.exec_driver_sql(text, [tuple(map(_taken, row.values())) for row in rows])


def _taken(value: Any) -> Any:
    return readable(value) if isinstance(value, str) else value


@lru_cache(maxsize=256)
def _in_sizes(count: int) -> tuple[slice, ...]:
    """Cut so many rows into pieces of the sizes that are prepared, the largest first."""
    cuts: list[slice] = []
    at = 0
    for size in SIZES:
        while count - at >= size:
            cuts.append(slice(at, at + size))
            at += size
    return tuple(cuts)


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
