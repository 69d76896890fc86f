"""Several workers are refused while runs live in memory: one would not know another's runs."""

import fcntl
import multiprocessing
import os
from contextlib import AsyncExitStack
from pathlib import Path

from signalbox.app.config import SettingsError

SENTENCE = (
    "Signalbox runs as one worker while runs live in memory: a second one could neither stop nor resume them. "
    "Start it without --workers and without WEB_CONCURRENCY."
)


def refuse_second_worker(data_folder: Path, stack: AsyncExitStack) -> None:
    """Raise SettingsError in every worker but the first of one parent process."""
    if multiprocessing.parent_process() is None:
        return
    lock = stack.enter_context((data_folder / f"worker-{os.getppid()}.lock").open("w"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SettingsError(SENTENCE) from None
    stack.callback(Path(lock.name).unlink, missing_ok=True)
