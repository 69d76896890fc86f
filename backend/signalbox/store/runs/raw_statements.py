"""The SQL statements of a flush as cached text, each executed for many rows at once.

Building and compiling them for each flush costs several times what SQLite needs to execute a small one. Both databases
use the same SQL apart from the parameter style. SQLite's driver is called directly: SQLAlchemy's overhead for a small
statement exceeds the execution.
"""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from operator import methodcaller
from typing import Any, cast

from sqlalchemy import Connection, Table

from signalbox.store.engines.portable_sql import without_nul
from signalbox.wire.json_text import dumps

Row = Mapping[str, Any]
"""Values by column; all rows of one batch name the same columns in the same order."""

_values = methodcaller("values")

# Rows per SQLite statement: each execution releases and reacquires the GIL, which the event loop needs too. There are
# few sizes, so that all statements stay prepared. The widest table has 26 columns, so the largest size is far below the
# limit of 32,766 values per statement.
SIZES = (128, 64, 32, 16, 8, 4, 2, 1)


def insert(
    connection: Connection,
    table: Table,
    rows: Sequence[Row],
    replaced: tuple[str, ...] = (),
    summed: tuple[str, ...] = (),
) -> None:
    """Insert rows. If the primary key exists, the columns `replaced` are overwritten and `summed` are added to."""
    if not rows:
        return
    names, there = tuple(rows[0]), _if_it_exists(table, replaced, summed)
    if _is_server(connection):  # asyncpg sends all rows at once
        _run_each(connection, _insertion(table, names, there, _numbered_parameters(names)), rows)
        return
    driver = driver_of(connection)
    for cut in _in_sizes(len(rows)):
        some = rows[cut]
        text = _insertion(table, names, there, _question_marks(names), len(some))
        driver.execute(text, [*chain.from_iterable(map(_values, some))])


def change(connection: Connection, table: Table, rows: Sequence[Row], only: str = "") -> None:
    """Update rows by `id`, the last value of each; `only` is an additional condition."""
    if not rows:
        return
    names = tuple(rows[0])
    if _is_server(connection):
        _run_each(connection, _change(table, names, _numbered_parameters(names), only), rows)
        return
    text = _change(table, names, _question_marks(names), only)
    driver_of(connection).executemany(text, [*map(tuple, map(_values, rows))])


def rows_of_ids(connection: Connection, text: str, ids: Collection[str]) -> Sequence[tuple[Any, ...]]:
    """Execute a statement whose one parameter is ids; it begins with SELECT or ends with RETURNING.

    `text` has `{ids}` in place of the parameter, behind `IN`. On PostgreSQL, a SELECT must lock its rows.
    """
    found = dumps([*map(_without_nuls, ids)]).decode()
    if _is_server(connection):
        words = text.format(ids="(SELECT json_array_elements_text(CAST($1 AS json)))")
        return [tuple(row) for row in connection.exec_driver_sql(words, (found,))]
    return driver_of(connection).execute(text.format(ids="(SELECT value FROM json_each(?))"), (found,)).fetchall()


def driver_of(connection: Connection) -> sqlite3.Connection:
    """Return the sqlite3 connection; it raises sqlite3 errors, not SQLAlchemy's."""
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def _is_server(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _run_each(connection: Connection, text: str, rows: Sequence[Row]) -> None:
    connection.exec_driver_sql(text, [tuple(map(_without_nuls, row.values())) for row in rows])


def _without_nuls(value: Any) -> Any:
    return without_nul(value) if isinstance(value, str) else value


@lru_cache(maxsize=256)
def _in_sizes(count: int) -> tuple[slice, ...]:
    """Cut a number of rows into slices of the prepared sizes, largest first."""
    cuts: list[slice] = []
    at = 0
    for size in SIZES:
        while count - at >= size:
            cuts.append(slice(at, at + size))
            at += size
    return tuple(cuts)


def _question_marks(names: tuple[str, ...]) -> tuple[str, ...]:
    return ("?",) * len(names)


def _numbered_parameters(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"${number}" for number in range(1, len(names) + 1))


@cache
def _insertion(table: Table, names: tuple[str, ...], there: str, places: tuple[str, ...], rows: int = 1) -> str:
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join([f"({', '.join(places)})"] * rows)
    keys = ", ".join(column.name for column in table.primary_key)
    words = f"({columns}) VALUES {values} ON CONFLICT ({keys}) DO {there}"
    return f"INSERT INTO {table.name} {words}"


@cache
def _if_it_exists(table: Table, replaced: tuple[str, ...], summed: tuple[str, ...]) -> str:
    changed = [f'"{name}" = excluded."{name}"' for name in replaced]
    changed += [f'"{name}" = {table.name}."{name}" + excluded."{name}"' for name in summed]
    return f"UPDATE SET {', '.join(changed)}" if changed else "NOTHING"


@cache
def _change(table: Table, names: tuple[str, ...], places: tuple[str, ...], only: str) -> str:
    *rest, key = (f'"{name}" = {place}' for name, place in zip(names, places, strict=True))
    where = f"{key} AND {only}" if only else key
    return f"UPDATE {table.name} SET {', '.join(rest)} WHERE {where}"  # noqa: S608 - the same
