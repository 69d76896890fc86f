"""Which database is used, opened; what keeps it from that is told in a sentence."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from signalbox.app.config import Settings, SettingsError
from signalbox.app.process.data_dir_lock import hold_data_folder
from signalbox.core.errors import StoreError
from signalbox.store.database import Database, OpenError
from signalbox.store.engines.sqlite import SqliteDatabase
from signalbox.store.migrate import NewerDatabase

FILE = "signalbox.db"
# Services of the reasons (store/engines/postgres_errors.py) for which there may be no server at all; in all others a
# server has answered.
_AWAY = ("does not answer", "nothing listens", "no socket", "host is not known")


def database_of(settings: Settings, folder: Path) -> Database:
    """Return the database that the settings name, not opened yet; raises SettingsError."""
    if settings.database_url is None:
        return SqliteDatabase(folder / FILE)
    try:
        from signalbox.store.engines.postgres import PostgresDatabase  # its driver is an extra
    except ImportError:
        raise SettingsError(
            "DATABASE_URL is set, but the package asyncpg is not installed: pip install 'signalbox[postgres]'."
        ) from None
    return PostgresDatabase(settings.database_url.get_secret_value())


async def open_database(settings: Settings, folder: Path, stack: AsyncExitStack) -> Database:
    """Open the database for a server, and have `stack` close it; raises SettingsError."""
    database = database_of(settings, folder)
    if not database.is_shared:
        hold_data_folder(folder, stack)
    stack.push_async_callback(database.aclose)
    await _open(database, settings)
    return database


@asynccontextmanager
async def beside_a_server(settings: Settings, folder: Path) -> AsyncGenerator[Database, None]:
    """Open the database for a moment's work, also while a server is at work in it; raises SettingsError."""
    database = database_of(settings, folder)
    try:
        await _open(database, settings)
        yield database
    finally:
        await database.aclose()


@asynccontextmanager
async def as_it_is(settings: Settings) -> AsyncGenerator[Database, None]:
    """Use a database that is there, for a moment's work: neither made nor changed here; raises SettingsError."""
    if settings.database_url is None and not (settings.signalbox_data_dir / FILE).is_file():
        raise SettingsError(
            f"There is no database {place_of(settings)}. Stand in the server's folder, or set SIGNALBOX_DATA_DIR or "
            "DATABASE_URL as the server has it."
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
            f"A later version of Signalbox has written {place_of(settings)}. Start that version, or set "
            "SIGNALBOX_DATA_DIR or DATABASE_URL to another one."
        ) from None
    except OpenError as error:
        raise unusable(settings, error.reason) from None
    except StoreError:
        raise unusable(settings) from None


def unusable(settings: Settings, reason: str = "") -> SettingsError:
    """Say that the database cannot be used, and why where that is known."""
    if settings.database_url is not None:
        where = f"The database {place_of(settings)}"
        if reason and not any(word in reason for word in _AWAY):
            return SettingsError(f"{where} cannot be used: {reason}. Fix that, or correct DATABASE_URL.")
        says = f"cannot be used: {reason}" if reason else "does not answer, or refuses us"
        return SettingsError(
            f"{where} {says}. See that it runs, that DATABASE_URL "
            "names its host, user and password, and that the user may make tables."
        )
    return SettingsError(
        f"The database {place_of(settings)} cannot be opened. See that the disk has room and that the file is "
        "Signalbox's own, or set SIGNALBOX_DATA_DIR to another folder."
    )


def place_of(settings: Settings) -> str:
    """Name the database, without its password."""
    if settings.database_url is None:
        return str(settings.signalbox_data_dir.absolute() / FILE)
    services = urlsplit(settings.database_url.get_secret_value())
    return f"{services.netloc.rpartition('@')[2] or 'localhost'}{services.path}"
