"""Brings a database up to this version's tables, by Alembic; an up-to-date one is not even asked for its tables."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0003"
SCRIPTS = Path(__file__).parent / "migrations"


class NewerDatabase(StoreError):
    """A later version has written it: its tables are unknown here and must not be written."""


def upgrade(engine: Engine, to: str = HEAD) -> None:
    """Run what migrations are missing; raises NewerDatabase."""
    if version(engine) != to:
        with engine.begin() as connection:
            upgrade_on(connection, to)


def upgrade_on(connection: Connection, to: str = HEAD) -> None:
    """Run what migrations are missing, in the transaction that is under way; raises NewerDatabase."""
    if version_on(connection) == to:
        return
    from alembic import command  # 150 ms to import, and only a new database or a new version needs it
    from alembic.util import CommandError

    try:
        command.upgrade(_config(connection), to)
    except CommandError:  # its revision is in none of our files
        raise NewerDatabase(Code.STORE_UNAVAILABLE) from None


def downgrade(engine: Engine, to: str = "base") -> None:
    """Undo migrations."""
    with engine.begin() as connection:
        downgrade_on(connection, to)


def downgrade_on(connection: Connection, to: str = "base") -> None:
    """Undo migrations, in the transaction that is under way."""
    from alembic import command

    command.downgrade(_config(connection), to)


def version(engine: Engine) -> str | None:
    """Return which migration the database is at, None for an empty one."""
    with engine.connect() as connection:
        return version_on(connection)


def version_on(connection: Connection) -> str | None:
    """Return which migration the database of a connection is at, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _config(connection: Connection) -> "Config":
    """Have Alembic work on a connection of ours."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    return config
