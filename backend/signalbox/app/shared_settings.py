"""What this worker shares with those that use the same database: the lever, and the secret of the fences."""

import secrets
from contextlib import AsyncExitStack
from pathlib import Path

from signalbox.app.config import Settings
from signalbox.app.database_setup import unusable
from signalbox.core.errors import StoreError
from signalbox.core.untrusted import SECRET_BYTES, key_fences
from signalbox.flags.lever import LeverFile, LeverPlace
from signalbox.flags.shared_lever import SharedLever
from signalbox.store.database import Database
from signalbox.store.shared_values import FENCE, get_shared, shared_once

LEVER_FILE = "tool_loop_v2.json"


async def open_lever(settings: Settings, folder: Path, database: Database, stack: AsyncExitStack) -> LeverPlace:
    """Return the lever: a file in the data folder, or a row where others have the same; raises SettingsError.

    The first worker on an empty database brings the lever of its folder along, so that moving there pulls nothing.
    """
    file = LeverFile(folder / LEVER_FILE)
    if not database.is_shared:
        return file
    lever = SharedLever(database)
    try:
        await lever.open(file.read(), stack)
    except StoreError:
        raise unusable(settings) from None
    return lever


async def key_fences_from(settings: Settings, database: Database) -> None:
    """Key the fences with the database's secret, created by the first worker that needs it; raises SettingsError.

    Every worker then sends a message as the same bytes, and so does the next start: prompt caches hold.
    """
    try:
        secret = await database.read(get_shared, FENCE)
        key_fences(secret or await database.write(shared_once, FENCE, secrets.token_bytes(SECRET_BYTES)))
    except StoreError:
        raise unusable(settings) from None
