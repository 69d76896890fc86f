"""What workers of one database share: the flag override and the secrets of delimiters, image addresses and sign-in."""

import secrets
from contextlib import AsyncExitStack
from pathlib import Path

from signalbox.app.config import Settings
from signalbox.app.database_setup import database_error
from signalbox.app.settings.errors import SettingsError
from signalbox.core.errors import StoreError
from signalbox.core.security import image_addresses
from signalbox.core.security.image_addresses import ImageAddresses
from signalbox.core.security.untrusted import SECRET_BYTES, key_delimiters
from signalbox.extras import how_to_install
from signalbox.flags.override import OverrideFile, OverrideStore
from signalbox.flags.provider import FlagProvider
from signalbox.flags.shared_override import SharedOverride
from signalbox.store.database import Database
from signalbox.store.shared_values import DELIMITER_KEY, IMAGE_KEY, SIGN_IN_KEY, get_shared, shared_once

OVERRIDE_FILE = "tool_loop_v2.json"
_SIGN_IN_SECRET_BYTES = 32


async def open_override(settings: Settings, folder: Path, database: Database, stack: AsyncExitStack) -> OverrideStore:
    """Return the flag override: a file in the data folder or a row in a shared database; raises SettingsError.

    The first worker on an empty database copies the override of its folder, so moving there changes nothing.
    """
    file = OverrideFile(folder / OVERRIDE_FILE)
    if not database.is_shared:
        return file
    override = SharedOverride(database)
    try:
        await override.open(file.current(), stack)
    except StoreError:
        raise database_error(settings) from None
    return override


def open_flag_provider(settings: Settings) -> FlagProvider | None:
    """Return the flag provider of the settings, None for the built-in flag; raises SettingsError."""
    if settings.signalbox_flag_provider == "builtin":
        return None
    try:
        from signalbox.flags.openfeature import OpenFeatureFlags, flags_of_file  # an extra
    except ModuleNotFoundError as error:
        words = f"SIGNALBOX_FLAG_PROVIDER needs the package {error.name}: {how_to_install('openfeature')}."
        raise SettingsError(words) from None
    if (path := settings.signalbox_flag_file) is None:
        return OpenFeatureFlags()
    try:
        return flags_of_file(path)
    except (OSError, ValueError) as error:
        why = "cannot be read" if isinstance(error, OSError) else "is not in flagd's format"
        raise SettingsError(f"The file of SIGNALBOX_FLAG_FILE ({path}) {why}: correct it or the setting.") from None


async def key_delimiters_from(settings: Settings, database: Database) -> None:
    """Key the delimiters with the database's secret, created by the first worker; raises SettingsError.

    All workers then send a message as the same bytes, also after a restart, so prompt caches stay valid.
    """
    key_delimiters(await _secret(settings, database, DELIMITER_KEY, SECRET_BYTES))


async def image_addresses_from(settings: Settings, database: Database) -> ImageAddresses:
    """Return the signer of image addresses with the database's secret; raises SettingsError."""
    return ImageAddresses(await _secret(settings, database, IMAGE_KEY, image_addresses.SECRET_BYTES))


async def sign_in_secret_from(settings: Settings, database: Database) -> bytes:
    """Return the secret that signs sign-ins that are under way; raises SettingsError."""
    return await _secret(settings, database, SIGN_IN_KEY, _SIGN_IN_SECRET_BYTES)


async def _secret(settings: Settings, database: Database, name: str, size: int) -> bytes:
    """Return a secret of the database, created by the first worker; raises SettingsError."""
    try:
        secret = await database.read(get_shared, name)
        return secret or await database.write(shared_once, name, secrets.token_bytes(size))
    except StoreError:
        raise database_error(settings) from None
