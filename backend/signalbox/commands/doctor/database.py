"""Checks the database: an SQLite file, or a PostgreSQL server."""

import asyncio

from signalbox.app.config import Settings, SettingsError
from signalbox.app.database_setup import FILE, place_of
from signalbox.commands.doctor.finding import Finding, fail, ok, refusal, warn
from signalbox.commands.doctor.loop import standing
from signalbox.core.errors import StoreError
from signalbox.server.serve import count_of
from signalbox.store.engines.sqlite_check import is_current, is_known, look_at_file

SECONDS = 5.0
_CLOCKS = 5.0  # seconds between two clocks from which on it is worth a word
_SLOW = 0.1  # seconds for the smallest answer


async def check_database(settings: Settings) -> list[Finding]:
    """Look at the database that is set, and whether as many workers may share it as are asked for."""
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
        from signalbox.store.engines.postgres_check import look_at_server  # its driver is an extra
    except ImportError:
        words = "DATABASE_URL is set, but the package asyncpg is not installed."
        return [fail("database", words, "pip install 'signalbox[postgres]'")]
    where = place_of(settings)
    try:
        async with asyncio.timeout(SECONDS):
            found = await look_at_server(settings.database_url.get_secret_value())
    except TimeoutError:
        words = f"{where} does not answer within {SECONDS:g} s."
        return [fail("database", words, "See that PostgreSQL runs there and that nothing on the way swallows packets.")]
    except StoreError as error:
        todo = "Fix that, or correct DATABASE_URL, which names host, port, user, password and database."
        if "Errno" in error.message:  # there was no answer
            todo = "See that it runs, and that DATABASE_URL names its host and port."
        return [fail("database", f"{where}: {error.message}.", todo)]
    words = f"{where} is {found.software}, answers in {found.latency * 1000:.0f} ms"
    if not is_current(found.version) and not found.may_make:
        words = f"{words}; its user may not make the tables that are missing."
        told = [fail("database", words, "GRANT CREATE ON SCHEMA public to that user, or have them own the database.")]
    else:
        told = [_tables(words, found.version)]
    told += _server(found.latency, found.ahead, wakes=found.wakes)
    return [*told, standing(settings, found.lever, f"The flag override in {where}")]


def _server(latency: float, ahead: float, *, wakes: bool) -> list[Finding]:
    told: list[Finding] = []
    if wakes:
        told.append(ok("wake-ups", "Notifications of the database come through (LISTEN)."))
    else:
        words = "Notifications of the database do not come through (LISTEN), so workers look for news each second."
        told.append(warn("wake-ups", words, "Connect without a pooler, or through one that pools sessions."))
    if latency > _SLOW:
        words = f"The database takes {latency * 1000:.0f} ms for its smallest answer."
        told.append(warn("latency", words, "Bring database and workers closer to each other."))
    if abs(ahead) > _CLOCKS:
        words = f"The database's clock is {abs(ahead):,.0f} s {'ahead of' if ahead > 0 else 'behind'} this machine's."
        told.append(warn("clock", words, "Let both follow the same time server."))
    else:
        told.append(ok("clock", f"The clocks of the database and this machine differ by {abs(ahead):.1f} s."))
    return told


def _file(settings: Settings) -> Finding:
    path = settings.signalbox_data_dir / FILE
    if not path.exists():
        return ok("database", f"{path} is not there yet; the first start makes it.")
    try:
        found = look_at_file(path, SECONDS)
    except (StoreError, OSError):
        words = f"{path} cannot be opened as an SQLite database."
        return fail("database", words, "See whose file it is; if it is broken, restore a backup (docs/operating.md).")
    if found.fault is not None:
        words = f"{path} is damaged: {' '.join(found.fault.split())}."
        return fail("database", words, "Stop the server and restore a backup (docs/operating.md).")
    checked = "and is sound" if found.is_whole else f"and was not read to its end in {SECONDS:g} s"
    return _tables(f"{path} has {found.size / 1e6:,.1f} MB {checked}", found.version)


def _tables(words: str, version: str | None) -> Finding:
    """Say what the next start does with the tables."""
    if is_current(version):
        return ok("database", f"{words}; its tables are this version's ({version}).")
    if version is None:
        return ok("database", f"{words}; it has no tables yet, and the first start makes them.")
    if is_known(version):
        return ok(
            "database", f"{words}; its tables are of an earlier version ({version}), and the next start updates them."
        )
    todo = "Start that version, or use another database (SIGNALBOX_DATA_DIR, DATABASE_URL)."
    return fail("database", f"{words}; a later version of Signalbox has written its tables ({version}).", todo)
