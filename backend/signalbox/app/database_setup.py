"""Opens the database that the settings name; every failure becomes a SettingsError of one sentence or two."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from signalbox.app.config import Settings, SettingsError
from signalbox.app.process.data_dir_lock import hold_data_folder
from signalbox.core.errors import StoreError
from signalbox.extras import how_to_install
from signalbox.runs.retention import DAY, Retention
from signalbox.store.database import Database, OpenError
from signalbox.store.engines.sqlite import SqliteDatabase
from signalbox.store.migrate import NewerDatabase

FILE = "signalbox.db"
# Parts of the reasons in store/engines/postgres_errors.py that mean that no server has answered.
_NO_SERVER = ("does not answer", "nothing listens", "no socket", "host is not known")


def database_of(settings: Settings, folder: Path) -> Database:
    """Return the database that the settings name, not yet open; raises SettingsError."""
    if settings.database_url is None:
        return SqliteDatabase(folder / FILE)
    try:
        from signalbox.store.engines.postgres import PostgresDatabase  # its driver is an extra
    except ImportError:
        raise SettingsError(
            f"DATABASE_URL is set, but the package asyncpg is not installed: {how_to_install('postgres')}."
        ) from None
    return PostgresDatabase(settings.database_url.get_secret_value())


async def open_database(settings: Settings, folder: Path, stack: AsyncExitStack) -> Database:
    """Open the database for a server; `stack` closes it. Raises SettingsError."""
    database = database_of(settings, folder)
    if not database.is_shared:
        hold_data_folder(folder, stack)
    stack.push_async_callback(database.aclose)
    await _open(database, settings)
    return database


def start_retention(settings: Settings, database: Database, stack: AsyncExitStack) -> None:
    """Delete old runs and conversations in the background, if the settings limit their age; `stack` stops it."""
    if settings.signalbox_retention_days is not None:
        retention = Retention(database, settings.signalbox_retention_days * DAY)
        stack.callback(asyncio.create_task(retention.work(), name="retention").cancel)


@asynccontextmanager
async def opened_database(settings: Settings, folder: Path) -> AsyncGenerator[Database, None]:
    """Open the database for a command, created and migrated if necessary; a server may be using it.

    Raises SettingsError.
    """
    database = database_of(settings, folder)
    try:
        await _open(database, settings)
        yield database
    finally:
        await database.aclose()


@asynccontextmanager
async def existing_database(settings: Settings) -> AsyncGenerator[Database, None]:
    """Use an existing database for a command, without creating or migrating it; raises SettingsError."""
    if settings.database_url is None and not (settings.signalbox_data_dir / FILE).is_file():
        raise SettingsError(
            f"There is no database {location_of(settings)}. Run this in the server's folder, or set SIGNALBOX_DATA_DIR "
            "or DATABASE_URL as the server has it."
        )
    database = database_of(settings, settings.signalbox_data_dir)
    try:
        yield database
    finally:
        await database.aclose()


async def _open(database: Database, settings: Settings) -> None:
    try:
        await database.open()
    except NewerDatabase:
        raise SettingsError(
            f"A later version of Signalbox has written {location_of(settings)}. Start that version, or set "
            "SIGNALBOX_DATA_DIR or DATABASE_URL to another database."
        ) from None
    except OpenError as error:
        raise database_error(settings, error.reason) from None
    except StoreError:
        raise database_error(settings) from None


def database_error(settings: Settings, reason: str = "") -> SettingsError:
    """Return the error for a database that cannot be used, with the reason if it is known."""
    if settings.database_url is not None:
        where = f"The database {location_of(settings)}"
        if reason and not any(phrase in reason for phrase in _NO_SERVER):
            return SettingsError(f"{where} cannot be used: {reason}. Fix that, or correct DATABASE_URL.")
        fault = f"cannot be used: {reason}" if reason else "does not answer, or rejects the connection"
        return SettingsError(
            f"{where} {fault}. Check that it is running, that DATABASE_URL has the right host, user and password, and "
            "that the user may create tables."
        )
    return SettingsError(
        f"The database {location_of(settings)} cannot be opened. Check that the disk has space and that the file is a "
        "database of Signalbox, or set SIGNALBOX_DATA_DIR to another folder."
    )


def location_of(settings: Settings) -> str:
    """Return the database's file, or its host and name."""
    if settings.database_url is None:
        return str(settings.signalbox_data_dir.absolute() / FILE)
    url = urlsplit(settings.database_url.get_secret_value())
    return f"{url.netloc.rpartition('@')[2] or 'localhost'}{url.path}"
