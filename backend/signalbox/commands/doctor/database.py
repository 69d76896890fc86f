"""Checks the database: an SQLite file, or a PostgreSQL server."""

import asyncio

from signalbox.app.config import Settings, SettingsError
from signalbox.app.database_setup import FILE, location_of
from signalbox.commands.doctor.finding import Finding, fail, ok, refusal, warn
from signalbox.commands.doctor.loop import standing
from signalbox.core.errors import StoreError
from signalbox.extras import how_to_install
from signalbox.server.serve import count_of
from signalbox.store.engines.sqlite_check import inspect_file, is_current, is_known

SECONDS = 5.0
_CLOCKS = 5.0  # seconds between two clocks from which a warning is useful
_SLOW = 0.1  # seconds for the smallest query


async def check_database(settings: Settings) -> list[Finding]:
    """Check the configured database, and whether it allows the configured number of workers."""
    return [*_workers(settings), *(await _database(settings))]


def _workers(settings: Settings) -> list[Finding]:
    try:
        count_of(settings, None)
    except SettingsError as error:
        return [refusal("workers", error)]
    return []


async def _database(settings: Settings) -> list[Finding]:
    if settings.database_url is None:
        return [await asyncio.to_thread(_file, settings)]
    try:
        from signalbox.store.engines.postgres_check import inspect_server  # its driver is an extra
    except ImportError:
        words = "DATABASE_URL is set, but the package asyncpg is not installed."
        return [fail("database", words, f"Install it: {how_to_install('postgres')}.")]
    where = location_of(settings)
    try:
        async with asyncio.timeout(SECONDS):
            found = await inspect_server(settings.database_url.get_secret_value())
    except TimeoutError:
        words = f"{where} does not answer within {SECONDS:g} s."
        return [fail("database", words, "Check that PostgreSQL runs there, and the firewalls in between.")]
    except StoreError as error:
        todo = "Fix that, or correct DATABASE_URL, which names host, port, user, password and database."
        if "Errno" in error.message:  # no connection
            todo = "Check that it runs, and that DATABASE_URL has its host and port."
        return [fail("database", f"{where}: {error.message}.", todo)]
    words = f"{where} runs {found.software} and answers in {found.latency * 1000:.0f} ms"
    if not is_current(found.version) and not found.may_create:
        words = f"{words}; its user may not create the missing tables."
        told = [
            fail(
                "database",
                words,
                "GRANT CREATE ON SCHEMA public to that user, or let the user own the database.",
            )
        ]
    else:
        told = [_tables(words, found.version)]
    told += _server(found.latency, found.ahead, has_notifications=found.has_notifications)
    return [*told, standing(settings, found.override, f"The flag override in {where}")]


def _server(latency: float, ahead: float, *, has_notifications: bool) -> list[Finding]:
    told: list[Finding] = []
    if has_notifications:
        told.append(ok("wake-ups", "Notifications from the database arrive (LISTEN)."))
    else:
        words = "Notifications from the database do not arrive (LISTEN), so workers poll twice a second."
        told.append(warn("wake-ups", words, "Connect without a pooler, or use session pooling."))
    if latency > _SLOW:
        words = f"The database takes {latency * 1000:.0f} ms for the smallest query."
        told.append(warn("latency", words, "Run the database and the workers closer to each other."))
    if abs(ahead) > _CLOCKS:
        words = f"The database's clock is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's."
        told.append(warn("clock", words, "Synchronise both with the same time server."))
    else:
        told.append(ok("clock", f"The clocks of the database and this machine differ by {abs(ahead):.1f} s."))
    return told


def _file(settings: Settings) -> Finding:
    path = settings.signalbox_data_dir / FILE
    if not path.exists():
        return ok("database", f"{path} does not exist yet; the first start creates it.")
    try:
        found = inspect_file(path, SECONDS)
    except (StoreError, OSError):
        words = f"{path} cannot be opened as an SQLite database."
        return fail(
            "database", words, "Check who owns the file; if it is damaged, restore a backup (docs/operating.md)."
        )
    if found.fault is not None:
        words = f"{path} is damaged: {' '.join(found.fault.split())}."
        return fail("database", words, "Stop the server and restore a backup (docs/operating.md).")
    checked = "and is intact" if found.is_whole else f"and could not be checked completely in {SECONDS:g} s"
    return _tables(f"{path} has {found.size / 1e6:,.1f} MB {checked}", found.version)


def _tables(words: str, version: str | None) -> Finding:
    """Report the revision of the tables, and whether the next start migrates them."""
    if is_current(version):
        return ok("database", f"{words}; its tables are up to date ({version}).")
    if version is None:
        return ok("database", f"{words}; it has no tables yet; the first start creates them.")
    if is_known(version):
        return ok(
            "database", f"{words}; its tables are from an earlier version ({version}); the next start migrates them."
        )
    todo = "Start that version, or use another database (SIGNALBOX_DATA_DIR, DATABASE_URL)."
    return fail("database", f"{words}; its tables are from a later version of Signalbox ({version}).", todo)
