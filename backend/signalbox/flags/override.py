"""The operator's override of the feature flag: off, on, or a share of the conversations; stored in a small file."""

import asyncio
import os
from collections.abc import Callable
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
class Override:
    """A stored override; `percent` (0 to 100) counts only in the state of that name."""

    state: State
    percent: int = 0


def ignore(override: Override | None) -> None:
    """Ignore a change of the override."""


class OverrideStore(Protocol):
    """Where the override is stored: a file for one process, the database for several workers."""

    on_stored: Callable[[Override | None], None]
    """Called after this process has stored an override."""

    def current(self) -> Override | None:
        """Return the override as this worker knows it, without waiting; None if none was ever set."""
        ...

    async def store(self, override: Override | None) -> None:
        """Store the override, None to remove it; raises OSError or StoreError."""
        ...


class OverrideFile:
    """The override on disk: it survives restarts, and the next run sees a change by another process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._override: Override | None = None
        self.on_stored: Callable[[Override | None], None] = ignore

    def current(self) -> Override | None:
        """Return the override, None if none was ever set; costs one `stat` when the file has not changed.

        A file that cannot be parsed counts as `off`: a typing error of an operator who rolls back must not leave
        V2 on.
        """
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._seen, self._override = None, None
            return None
        except OSError as error:
            self._seen = None
            return self._unreadable(error)
        mark = (found.st_mtime_ns, found.st_ino, found.st_size)
        if mark != self._seen:
            self._seen, self._override = mark, self._parsed()
        return self._override

    async def store(self, override: Override | None) -> None:
        """Store the override, None to remove it; it is on disk on return. Raises OSError."""
        await asyncio.to_thread(self.write, override)
        self.on_stored(override)

    def write(self, override: Override | None) -> None:
        """Set the override atomically: readers see the old state or the new one. Raises OSError."""
        with NamedTemporaryFile(dir=self._path.parent, prefix=self._path.name, delete=False) as file:
            file.write(json_of(override))
            file.flush()
            os.fsync(file.fileno())
        try:
            # File systems stamp files with their last tick, some milliseconds old. Two changes within one tick would
            # look the same to a reader if the second file gets the inode that the first has freed.
            os.utime(file.name, ns=(time_ns(), time_ns()))
            Path(file.name).replace(self._path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
        self._seen = None

    def _parsed(self) -> Override | None:
        try:
            return override_of(orjson.loads(self._path.read_bytes()))
        except (OSError, ValueError) as error:
            return self._unreadable(error)

    def _unreadable(self, error: Exception) -> Override:
        _log.error("flag.override_unreadable", file=self._path.name, error=type(error).__name__, effective="off")
        return Override("off")


def json_of(override: Override | None) -> bytes:
    """Encode an override as JSON, with a share only in state `percent`; None is the state `default`."""
    if override is None:
        return orjson.dumps({"state": "default"})
    share = {"percent": override.percent} if override.state == "percent" else {}
    return orjson.dumps({"state": override.state, **share})


def override_of(value: JsonValue) -> Override | None:
    """Decode an override from JSON, None if it was removed; raises ValueError with a sentence."""
    fields: JsonObject = value if isinstance(value, dict) else {}
    state, percent = fields.get("state"), fields.get("percent", 0)
    if state == "default":
        return None
    if state not in ("off", "on", "percent"):
        raise ValueError("state must be off, on, percent or default.")
    if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= 100:
        raise ValueError("percent must be a whole number from 0 to 100.")
    return Override(state, percent if state == "percent" else 0)
