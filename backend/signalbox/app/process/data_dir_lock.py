"""Lock of the data folder: a second process would end the runs of the first as if they had crashed."""

import fcntl
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

from signalbox.app.config import SettingsError

SENTENCE = (
    "Signalbox runs as one worker on SQLite: a second one could neither stop nor resume the runs of the first. "
    "Start it without --workers and without WEB_CONCURRENCY, or set DATABASE_URL to a PostgreSQL."
)


class FolderInUse(SettingsError):
    """Another process uses the data folder."""


def hold_data_folder(folder: Path, stack: AsyncExitStack | ExitStack) -> None:
    """Lock the folder until the process exits; raises FolderInUse if another process has locked it."""
    try:
        lock = stack.enter_context((folder / "lock").open("w"))
    except OSError as error:
        raise SettingsError(
            f"The data folder {folder} cannot be written ({error.strerror}). Set SIGNALBOX_DATA_DIR to one that can."
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise FolderInUse(
            f"Another Signalbox works in the data folder {folder}. {SENTENCE} For a second Signalbox beside the "
            "first, set SIGNALBOX_DATA_DIR to a different folder."
        ) from None
