"""`signalbox token`: create, list and revoke API tokens, also while a server runs."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from time import time

from signalbox.app.config import DATA_SETTINGS, Settings, SettingsError, load_settings
from signalbox.app.database_setup import database_error, existing_database, location_of, opened_database
from signalbox.app.folders import data_folder
from signalbox.app.logs.setup import configure_logs
from signalbox.core.errors import StoreError
from signalbox.core.messages import JsonObject
from signalbox.core.operation.audit import COMMAND, Entry, entry_by
from signalbox.core.security.api_tokens import Token, new_token
from signalbox.store.audit import audited
from signalbox.store.database import Database
from signalbox.store.tokens import add_token, list_tokens, revoke_token

_DAY = 24 * 3600.0
_LONGEST_NAME = 200


def create(name: str, days: float | None) -> int:
    """Create a token and print it, only once; return the exit status."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        return _fail(f"The name of a token must have 1 to {_LONGEST_NAME} printable characters.")
    if days is not None and not 0 < days <= 36500:
        return _fail("--days must be greater than 0 and at most 36500.")
    token, text = new_token(name, time(), None if days is None else days * _DAY)

    async def work(database: Database) -> int:
        details: JsonObject = {"token": token.id, "name": name, "expires": token.expires}
        entry = entry_by(COMMAND, token.created, "token.created", details)
        await database.write(audited, lambda _: entry, add_token, token)
        print(text)
        until = f"until {_moment(token.expires)}" if token.expires is not None else "until it is revoked"
        print(f"Token {token.id} for {name!r} is valid {until}. It is shown only once.", file=sys.stderr)
        return 0

    return _with_database(work, makes=True)


def list_all() -> int:
    """Print one line per token, without its secret; return the exit status."""

    async def work(database: Database) -> int:
        tokens = await database.read(list_tokens)
        rows = [("ID", "CREATED", "EXPIRES", "REVOKED", "NAME"), *(_row(token) for token in tokens)]
        for token_id, created, expires, revoked, name in rows:
            print(f"{token_id:<12}  {created:<17}  {expires:<17}  {revoked:<17}  {name}")
        return 0

    return _with_database(work)


def revoke(token_id: str) -> int:
    """Revoke a token, which all workers reject within a second; return the exit status."""
    now = time()

    def entry(token: Token | None) -> Entry | None:
        if token is None or token.revoked != now:  # unknown, or revoked before
            return None
        return entry_by(COMMAND, now, "token.revoked", {"token": token.id, "name": token.name})

    async def work(database: Database) -> int:
        token = await database.write(audited, entry, revoke_token, token_id, now)
        if token is None:
            return _fail(f"There is no token {token_id!r}. See signalbox token list.")
        print(f"Token {token.id} for {token.name!r} was revoked on {_moment(token.revoked)}.")
        return 0

    return _with_database(work)


def _with_database(work: Callable[[Database], Awaitable[int]], *, makes: bool = False) -> int:
    """Run work on the configured database, whose place is printed; with `makes`, create or migrate it first."""

    async def whole() -> int:
        settings = load_settings(only=DATA_SETTINGS)
        configure_logs(
            settings.signalbox_log_level, settings.secrets
        )  # to standard error; standard output is for the token
        opened = opened_database(settings, data_folder(settings)) if makes else existing_database(settings)
        async with opened as database:
            print(f"Database: {location_of(settings)}", file=sys.stderr)
            try:
                return await work(database)
            except StoreError:
                raise database_error(settings) if makes else _unread(settings) from None

    try:
        return asyncio.run(whole())
    except SettingsError as error:
        return _fail(str(error))


def _unread(settings: Settings) -> SettingsError:
    return SettingsError(
        f"The database {location_of(settings)} cannot be read. Check that it is running, and start this version of "
        "Signalbox with it once."
    )


def _row(token: Token) -> tuple[str, str, str, str, str]:
    return token.id, _moment(token.created), _moment(token.expires), _moment(token.revoked), token.name


def _moment(at: float | None) -> str:
    return "-" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%MZ}"


def _fail(sentence: str) -> int:
    print(f"signalbox: {sentence}", file=sys.stderr)
    return 2
