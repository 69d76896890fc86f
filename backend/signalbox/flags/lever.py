"""The lever that the operator pulls: off, on, or a share of the conversations; one small file, written atomically."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time_ns
from typing import Literal, Protocol

import orjson
import structlog

from signalbox.core.messages import JsonObject, JsonValue

State = Literal["off", "on", "percent"]

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Lever:
    """How the lever stands; `percent` (0 to 100) counts only in the state of that name."""

    state: State
    percent: int = 0


class LeverPlace(Protocol):
    """Where the lever is kept: a file for one process, the database for several workers."""

    def read(self) -> Lever | None:
        """Return how the lever stands as far as is known here, without waiting; None where it was never pulled."""
        ...

    async def pull(self, lever: Lever) -> None:
        """Set the lever; raises OSError or StoreError."""
        ...


class LeverFile:
    """The lever on disk: it survives restarts, and a change by another process is seen by the next run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._lever: Lever | None = None

    def read(self) -> Lever | None:
        """Return how the lever stands, None where it was never pulled; one `stat` when nothing has changed.

        A file that cannot be understood counts as `off`: an operator who tried to pull the lever back must not be
        left on V2 by a slip of the pen.
        """
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._seen, self._lever = None, None
            return None
        except OSError as error:
            self._seen = None
            return self._unreadable(error)
        mark = (found.st_mtime_ns, found.st_ino, found.st_size)
        if mark != self._seen:
            self._seen, self._lever = mark, self._parsed()
        return self._lever

    async def pull(self, lever: Lever) -> None:
        """Set the lever, on the disk by the time it returns; raises OSError."""
        await asyncio.to_thread(self.write, lever)

    def write(self, lever: Lever) -> None:
        """Set the override atomically: readers see the old state or the new one. Raises OSError."""
        with NamedTemporaryFile(dir=self._path.parent, prefix=self._path.name, delete=False) as file:
            file.write(json_of(lever))
            file.flush()
            os.fsync(file.fileno())
        try:
            # File systems keep the time of their last tick, some milliseconds ago: two pulls within one would look
            # alike to a reader when the second gets the inode that the first has set free.
            os.utime(file.name, ns=(time_ns(), time_ns()))
            Path(file.name).replace(self._path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
        self._seen = None

    def _parsed(self) -> Lever:
        try:
            return lever_of(orjson.loads(self._path.read_bytes()))
        except (OSError, ValueError) as error:
            return self._unreadable(error)

    def _unreadable(self, error: Exception) -> Lever:
        _log.error("flag.unreadable", file=self._path.name, error=type(error).__name__, stands="off")
        return Lever("off")


def json_of(lever: Lever) -> bytes:
    """Write a lever as JSON, with a share only where it counts."""
    return orjson.dumps({"state": lever.state, **({"percent": lever.percent} if lever.state == "percent" else {})})


def lever_of(value: JsonValue) -> Lever:
    """Read a lever from JSON; raises ValueError with a sentence."""
    fields: JsonObject = value if isinstance(value, dict) else {}
    state, percent = fields.get("state"), fields.get("percent", 0)
    if state not in ("off", "on", "percent"):
        raise ValueError("state must be off, on or percent.")
    if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= 100:
        raise ValueError("percent must be a whole number from 0 to 100.")
    return Lever(state, percent if state == "percent" else 0)
