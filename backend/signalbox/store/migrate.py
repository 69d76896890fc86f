"""Migrates a database to this version's tables with Alembic, which is imported only if a migration is missing."""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from signalbox.core.codes import Code
from signalbox.core.errors import StoreError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0015"
SCRIPTS = Path(__file__).parent / "migrations"


class NewerDatabase(StoreError):
    """A later version has migrated the database, so this version must not write to it."""


def upgrade(engine: Engine, to: str = HEAD) -> None:
    """Run the missing migrations; raises NewerDatabase."""
    if version(engine) != to:
        with engine.begin() as connection:
            upgrade_on(connection, to)


def upgrade_on(connection: Connection, to: str = HEAD) -> None:
    """Run the missing migrations in the current transaction; raises NewerDatabase."""
    if version_on(connection) == to:
        return
    from alembic import command  # takes 150 ms to import; only a new database or version needs it
    from alembic.util import CommandError

    try:
        command.upgrade(_config(connection), to)
    except CommandError:  # its revision is unknown here
        raise NewerDatabase(Code.STORE_UNAVAILABLE) from None


def downgrade(engine: Engine, to: str = "base") -> None:
    """Undo migrations down to a revision."""
    with engine.begin() as connection:
        downgrade_on(connection, to)


def downgrade_on(connection: Connection, to: str = "base") -> None:
    """Undo migrations down to a revision, in the current transaction."""
    from alembic import command

    command.downgrade(_config(connection), to)


def version(engine: Engine) -> str | None:
    """Return the revision of a database, None for an empty one."""
    with engine.connect() as connection:
        return version_on(connection)


def version_on(connection: Connection) -> str | None:
    """Return the revision of a connection's database, None for an empty one."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _config(connection: Connection) -> "Config":
    """Return Alembic's configuration for an existing connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.attributes["connection"] = connection
    return config
