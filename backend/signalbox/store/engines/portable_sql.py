"""SQL that differs between SQLite and PostgreSQL."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Integer, Select, Table, Text, TypeDecorator, column, func, literal, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from signalbox.wire.json_text import dumps

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql  # 28 modules that SQLite does not need


def without_nul(value: str) -> str:
    """Replace NUL characters, which PostgreSQL cannot store."""
    return value.replace("\0", "\ufffd")


class PortableText(TypeDecorator[str]):
    """A text column for any text. PostgreSQL cannot store NUL characters, so U+FFFD replaces them.

    Messages for a model are stored as bytes and stay unchanged. An id that contains NUL is never found.
    """

    impl = Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """The Python type of the values."""
        return str

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Convert a text for the database."""
        return without_nul(value) if value is not None and dialect.name == "postgresql" else value


class position_of(FunctionElement[int]):  # noqa: N801 - it is written like a function
    """The position of a text in another one, counted from 1; 0 if it does not occur."""

    type = Integer()
    inherit_cache = True


@compiles(position_of, "sqlite")
def _instr(element: position_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"instr({compiler.process(element.clauses, **kw)})"


@compiles(position_of, "postgresql")
def _strpos(element: position_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **kw)})"


class floor_of(FunctionElement[int]):  # noqa: N801 - the same
    """The largest integer that is not above a number; the number must not be negative."""

    type = Integer()
    inherit_cache = True


@compiles(floor_of, "sqlite")
def _truncated(element: floor_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **kw)} AS INTEGER)"  # floor() is an option when SQLite is built


@compiles(floor_of, "postgresql")
def _floor(element: floor_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"CAST(floor({compiler.process(element.clauses, **kw)}) AS INTEGER)"


class _texts_of(FunctionElement[str]):  # noqa: N801 - the same
    """The strings of a JSON list, as rows with one column `value`."""

    type = Text()
    inherit_cache = True


@compiles(_texts_of, "sqlite")
def _json_each(element: _texts_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **kw)})"


@compiles(_texts_of, "postgresql")
def _json_elements(element: _texts_of, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **kw)} AS json))"


def id_subquery(ids: Collection[str]) -> Select[str]:
    """Return ids as a subquery over one JSON parameter, because both databases limit the number of parameters."""
    return select(column("value", Text)).select_from(
        _texts_of(literal(dumps([without_nul(one) for one in ids]).decode()))
    )


def insert_into(connection: Connection, table: Table) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT that supports ON CONFLICT."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)


def database_time() -> Any:
    """Return the database's clock in epoch seconds, which is the same for all workers."""
    return func.extract("epoch", func.clock_timestamp())
