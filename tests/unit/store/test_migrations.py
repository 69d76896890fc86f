"""Migrations: they create the tables of the code, can be undone, and reject unknown files."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hatchling.builders.wheel import WheelBuilder
from signalbox.core.errors import StoreError
from signalbox.store.conversations import tree_of
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.engines.sqlite import SqliteDatabase, _engine
from signalbox.store.migrate import (
    HEAD,
    SCRIPTS,
    NewerDatabase,
    downgrade,
    downgrade_on,
    upgrade,
    upgrade_on,
    version,
    version_on,
)
from signalbox.store.saves import list_saves
from signalbox.store.schema import METADATA
from signalbox.store.spend.report import Spent, spend_by
from sqlalchemy import Connection, Engine, inspect, text

from tests.conftest import ROOT
from tests.support.postgres import Server

pytestmark = pytest.mark.anyio


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Connect to an empty file."""
    made = _engine(tmp_path / "signalbox.db")
    yield made
    made.dispose()


def shape(engine: Engine) -> list[tuple[str, str | None]]:
    """Return what SQLite says its tables and indexes are."""
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master ORDER BY name").all()
        return [(row[0], row[1]) for row in rows]


def test_head_is_the_newest_migration() -> None:
    """The constant HEAD is the revision of the newest migration."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_the_wheel_contains_the_migrations() -> None:
    """Migrations are read as files, so the package must contain them."""
    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    files = [path for path in SCRIPTS.rglob("*") if path.is_file() and path.suffix in (".py", ".mako")]
    assert len(files) >= 3
    assert {f"signalbox/store/migrations/{path.relative_to(SCRIPTS).as_posix()}" for path in files} <= packed


def test_up_down_and_up_again(engine: Engine) -> None:
    """Undoing all migrations leaves no table, and repeating them creates the same ones."""
    assert version(engine) is None
    upgrade(engine)
    first = shape(engine)
    assert version(engine) == HEAD
    upgrade(engine)
    assert shape(engine) == first
    downgrade(engine)
    assert inspect(engine).get_table_names() == ["alembic_version"]
    upgrade(engine)
    assert shape(engine) == first


def test_the_migrations_make_the_tables_of_the_code(engine: Engine, tmp_path: Path) -> None:
    """Migrations create the columns, keys and indexes of the code, and Alembic finds no difference."""
    upgrade(engine)
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []
    plain = _engine(tmp_path / "plain.db")
    METADATA.create_all(plain)
    for table in METADATA.tables:
        for ask in ("get_columns", "get_pk_constraint", "get_unique_constraints", "get_foreign_keys", "get_indexes"):
            made, wanted = (_sorted(getattr(inspect(one), ask)(table)) for one in (engine, plain))
            assert made == wanted, (table, ask)
    plain.dispose()


def _sorted(schema_of: object) -> str:
    return str(sorted(schema_of, key=str) if isinstance(schema_of, list) else schema_of)


# Three messages of one conversation, as version 0001 wrote them: two with the same time, ordered by their rows only.
OLD = (
    "INSERT INTO conversations VALUES ('c', 'Title', 'title', 1, 1.5, 2.5, 'm2')",
    *(
        f"INSERT INTO messages VALUES ('{name}', 'c', NULL, 'user', 2.0, NULL, X'5b5d', '{name}', '{name}', 'd')"
        for name in ("m2", "m0", "m1")
    ),
    (
        "INSERT INTO runs VALUES ('r', 'c', 'm2', 'key', 'd', 'm/x', 'v2', NULL, 0, X'7b7d', X'7b7d', 3.0, 4.0, "
        "'complete', NULL, 1, X'5b5d', NULL, 0.5, 0, NULL, 2, 1000000, 'Yes', 'yes')"
    ),
    "INSERT INTO journal VALUES ('r', 1, 2, X'5b5d')",
    "INSERT INTO turns VALUES ('r', 0, 2, X'7b7d')",
    "INSERT INTO saves VALUES ('s', 'S', 5.0, 'r', 'm/x', 'v2', 'complete', 2, X'7b7d', X'5b5d')",
)


def test_data_of_an_earlier_version_is_kept(engine: Engine) -> None:
    """Data of an earlier version keeps its order and has no owner, and undoing restores it."""
    upgrade(engine, "0001")
    with engine.begin() as connection:
        for line in OLD:
            connection.exec_driver_sql(line)
    before = contents(engine)
    upgrade(engine)
    with engine.connect() as connection:
        conversation, nodes = tree_of(connection, "c", texts=True)
        assert conversation is not None
        assert (conversation.title, conversation.is_titled, conversation.owner) == ("Title", True, "")
        assert [node.id for node in nodes] == ["m2", "m0", "m1", "r"]
        assert [line.id for line in list_saves(connection, "", 9)] == ["s"]
    downgrade(engine, "0001")
    assert version(engine) == "0001"
    assert contents(engine) == before


def contents(engine: Engine) -> dict[str, list[Any]]:
    """Return all rows of all tables."""
    with engine.connect() as connection:
        tables = [name for name in inspect(connection).get_table_names() if name != "alembic_version"]
        return {name: [*connection.exec_driver_sql(f"SELECT * FROM {name} ORDER BY rowid")] for name in tables}


@pytest.mark.parametrize("kind", ["file", "server"])
async def test_costs_of_earlier_runs_are_added_up(engine: Engine, kind: str, request: pytest.FixtureRequest) -> None:
    """By day, owner and model; runs that wait for a bill know what is counted."""
    runs = (
        ("a", "ada", "m/x", 0.1, "false", "'complete'"),
        ("b", "ada", "m/x", 0.2, "true", "'cancelled'"),
        ("c", "", "m/y", 0.5, "false", "'complete'"),
        ("d", "ada", "m/x", "NULL", "false", "NULL"),
    )

    def earlier(connection: Connection) -> None:
        upgrade_on(connection, "0007")
        for run_id, owner, model, cost, is_estimate, status in runs:
            connection.exec_driver_sql(
                "INSERT INTO runs (id, owner, model, loop, simulated, request, question, started, status, steps, "
                f"attempts, cost, cost_estimated, seq, reserved) VALUES ('{run_id}', '{owner}', '{model}', 'v2', "
                f"false, '{{}}', '{{}}', 1795910340, {status}, 1, '[]', {cost}, {is_estimate}, 1, 1)"
            )
        upgrade_on(connection)

    def added_up(connection: Connection) -> tuple[list[Spent], list[Any], list[Any]]:
        periods = "SELECT account, period, spent FROM budgets ORDER BY period"
        counted = "SELECT id, charged FROM runs WHERE charged IS NOT NULL"
        rows = [[tuple(row) for row in connection.exec_driver_sql(query)] for query in (periods, counted)]
        return [*spend_by(connection, "owner", "2026-11-28", "2026-11-28")], rows[0], rows[1]

    if kind == "file":
        with engine.begin() as connection:
            earlier(connection)
            found = added_up(connection)
    else:
        server: Server = request.getfixturevalue("postgres")
        database = PostgresDatabase(server.empty_database())
        await database.write(earlier)
        found = await database.read(added_up)
        await database.aclose()
    assert found == (
        [Spent("", 1, 0.5, 0.0, 0), Spent("ada", 2, 0.3, 0.2, 1)],
        [("ada", "2026-11", 300_000_000), ("ada", "2026-11-28", 300_000_000)],
        [("b", 200_000_000)],
    )


async def test_up_down_and_up_again_on_a_server(postgres: Server) -> None:
    """The same for PostgreSQL; a failed migration leaves no table."""
    url = postgres.empty_database()
    database = PostgresDatabase(url)
    await database.open()
    first = await database.read(found)
    assert first == await database.read(wanted)
    await database.write(downgrade_on)
    assert await database.read(lambda c: inspect(c).get_table_names()) == ["alembic_version"]
    await database.write(upgrade_on, "0001")
    await database.write(upgrade_on)
    assert (await database.read(version_on), await database.read(found)) == (HEAD, first)
    await database.write(downgrade_on)
    postgres.sql("CREATE TABLE turns (mine text)", database=url)
    with pytest.raises(StoreError):
        await database.write(upgrade_on)
    assert sorted(await database.read(lambda c: inspect(c).get_table_names())) == ["alembic_version", "turns"]
    postgres.sql("DROP TABLE turns", database=url)
    await database.write(upgrade_on)
    postgres.sql("UPDATE alembic_version SET version_num = '9999'", database=url)
    with pytest.raises(NewerDatabase):
        await database.open()
    await database.aclose()


def found(connection: Connection) -> dict[str, Any]:
    """Return what a server says of our tables; Alembic must find nothing to do."""
    options = {"compare_type": True, "compare_server_default": True}
    assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []
    return schema_of(connection)


def wanted(connection: Connection) -> dict[str, Any]:
    """Return what a server says of the tables of the code, made in a schema that goes again."""
    connection.execute(text("CREATE SCHEMA plain"))
    connection.execute(text("SET LOCAL search_path TO plain"))
    METADATA.create_all(connection)
    out = schema_of(connection)
    connection.execute(text("DROP SCHEMA plain CASCADE"))
    connection.execute(text("SET LOCAL search_path TO public"))
    return out


def schema_of(connection: Connection) -> dict[str, Any]:
    """Return columns, keys and indexes of all tables."""
    asks = ("get_columns", "get_pk_constraint", "get_unique_constraints", "get_foreign_keys", "get_indexes")
    look = inspect(connection)
    return {f"{table} {ask}": _sorted(getattr(look, ask)(table)) for table in METADATA.tables for ask in asks}


async def test_a_file_that_is_no_database_is_rejected(tmp_path: Path) -> None:
    """A file that is no database is rejected and not changed."""
    path = tmp_path / "signalbox.db"
    path.write_bytes(b"my diary " * 1000)
    database = SqliteDatabase(path)
    with pytest.raises(StoreError):
        await database.open()
    await database.aclose()
    assert path.read_bytes() == b"my diary " * 1000


async def test_a_database_of_a_later_version_is_rejected(tmp_path: Path) -> None:
    """A database of a later version is rejected and not changed."""
    path = tmp_path / "signalbox.db"
    database = SqliteDatabase(path)
    await database.open()
    await database.aclose()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
        before = connection.execute("SELECT name, sql FROM sqlite_master").fetchall()
    database = SqliteDatabase(path)
    with pytest.raises(NewerDatabase):
        await database.open()
    await database.aclose()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
        assert connection.execute("SELECT name, sql FROM sqlite_master").fetchall() == before


async def test_a_failed_migration_is_undone(tmp_path: Path) -> None:
    """If a table exists already, the migration fails and creates none of the others."""
    path = tmp_path / "signalbox.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE turns (mine TEXT)")
        connection.commit()
    database = SqliteDatabase(path)
    with pytest.raises(StoreError):
        await database.open()
    await database.aclose()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("turns",)]
