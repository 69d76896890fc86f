"""The migrations: they make the very tables that the code writes, and can be taken back; strange files are refused."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from hatchling.builders.wheel import WheelBuilder
from signalbox.core.errors import StoreError
from signalbox.store.migrate import HEAD, SCRIPTS, NewerDatabase, downgrade, upgrade, version
from signalbox.store.sqlite import SqliteDatabase, _engine
from signalbox.store.tables import METADATA
from sqlalchemy import Engine, inspect

from tests.conftest import ROOT

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
    """The constant that spares a start the reading of all migrations is the one they end at."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_the_wheel_has_them() -> None:
    """They are read as files, so each of them must be packed."""
    packed = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    files = [path for path in SCRIPTS.rglob("*") if path.is_file() and path.suffix in (".py", ".mako")]
    assert len(files) >= 3
    assert {f"signalbox/store/migrations/{path.relative_to(SCRIPTS).as_posix()}" for path in files} <= packed


def test_up_down_and_up_again(engine: Engine) -> None:
    """Taking all back leaves nothing, and what is made again is what was made first."""
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
    """Alembic finds nothing to do, and SQLite has the same columns, keys and indexes for both."""
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


def _sorted(told: object) -> str:
    return str(sorted(told, key=str) if isinstance(told, list) else told)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """Its bytes are left as they are."""
    path = tmp_path / "signalbox.db"
    path.write_bytes(b"my diary " * 1000)
    database = SqliteDatabase(path)
    with pytest.raises(StoreError):
        await database.open()
    await database.aclose()
    assert path.read_bytes() == b"my diary " * 1000


async def test_a_later_versions_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    """What its tables mean is not known here."""
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


async def test_a_migration_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    """A table of that name is there already: none of the others is made, and the next start finds what was there."""
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
