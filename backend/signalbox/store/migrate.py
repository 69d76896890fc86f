"""Brings a database up to this version's tables, by Alembic; an up-to-date one is not even asked for its tables."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine, inspect, text

from signalbox.core.errors import Code, StoreError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0001"
SCRIPTS = Path(__file__).parent / "migrations"


class NewerDatabase(StoreError):
    """A later version has written it: its tables are not known here, and nobody must write into them."""


def upgrade(engine: Engine, to: str = HEAD) -> None:
    """Run what migrations are missing; raises NewerDatabase."""
    if version(engine) == to:
        return
    from alembic import command  # 150 ms to import, and only a new database or a new version needs it
    from alembic.util import CommandError

    with _config(engine) as config:
        try:
            command.upgrade(config, to)
        except CommandError:  # its revision is in none of our files
            raise NewerDatabase(Code.STORE_UNAVAILABLE) from None


def downgrade(engine: Engine, to: str = "base") -> None:
    """Undo migrations."""
    from alembic import command

    with _config(engine) as config:
        command.downgrade(config, to)


def version(engine: Engine) -> str | None:
    """Return which migration the database is at, None for an empty one."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


@contextmanager
def _config(engine: Engine) -> "Generator[Config, None, None]":
    """Have Alembic work on a connection of ours, in one transaction."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        yield config
