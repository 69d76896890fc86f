"""Finds, loads and calls entry points of installed packages; their errors never prevent the start."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.metadata import EntryPoint, distributions
from traceback import extract_tb
from typing import Any, TypeVar, cast

import structlog

from signalbox.core.failure_location import failure_location
from signalbox.tools.plugin_thread import PluginLoadError, PluginThread

T = TypeVar("T")

# An import may be slow on a cold disk, but one that hangs must not prevent the start.
_LOAD_SECONDS = 20.0
_LONGEST_REASON = 300

_log = structlog.get_logger(__name__)


class PluginFaultError(Exception):
    """A plugin cannot be used; the message is for the operator, `at` is the line that failed, if known."""

    def __init__(self, reason: str, at: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of an installed package."""

    entry: EntryPoint
    package: str

    @property
    def name(self) -> str:
        """The name of the entry point."""
        return self.entry.name

    def open(self) -> PluginThread:
        """Start the thread that runs its code."""
        return PluginThread(self.package)

    def make(self, thread: PluginThread, *arguments: object, ready: tuple[type, ...] = ()) -> object:
        """Load the entry point and call it, unless it is of a `ready` type; raises PluginFaultError."""

        def load() -> object:
            loaded = _loaded(self.entry)
            return loaded if isinstance(loaded, ready) else loaded(*arguments)

        return in_plugin(thread, load, "loaded")

    def facts_of(self, fault: PluginFaultError) -> dict[str, str]:
        """Return the log fields of a plugin that cannot be used: name, reason and location."""
        facts = {"entry": self.name, "package": self.package, "reason": fault.reason}
        return {**facts, "raised_at": fault.at} if fault.at else facts


def _loaded(entry: EntryPoint) -> Any:
    """Load an entry point; raises PluginFaultError if its module or its object does not exist."""
    try:
        return entry.load()
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{entry.module}.".startswith(f"{missing.name}."):
            raise  # the module exists, and imports one that does not
        reason = f"there is no module {missing.name}"
    except AttributeError as missing:
        if missing.__traceback__ is None or extract_tb(missing.__traceback__)[-1].filename != metadata.__file__:
            raise  # by the plugin's code
        reason = f"{entry.module} has no {entry.attr}"
    raise PluginFaultError(f"its entry point {entry.name} = {entry.value} does not exist: {reason}"[:_LONGEST_REASON])


def in_plugin(thread: PluginThread, work: Callable[[], T], done: str) -> T:
    """Call `work`, which runs a plugin's code, on its thread; raises PluginFaultError ("it could not be {done} …")."""
    try:
        return thread.load(work, _LOAD_SECONDS)
    except PluginLoadError as failed:
        if failed.error is None:
            raise PluginFaultError(f"it could not be {done} within {_LOAD_SECONDS:g} s") from None
        if isinstance(failed.error, PluginFaultError):
            raise failed.error from None
        # Import errors contain only names; other messages may contain paths and keys (quirk G4).
        words = f": {failed.error}"[:200] if isinstance(failed.error, ImportError) else ""
        reason = f"it could not be {done} ({type(failed.error).__name__}{words})"
        raise PluginFaultError(reason, failure_location(failed.error)) from None


def plugins_of(group: str, found: Iterable[EntryPoint] | None = None) -> list[Plugin]:
    """Return the entry points of a group by name; `found` replaces the installed ones in tests."""
    entries = entry_points_of(group) if found is None else found
    return [Plugin(entry, _package(entry)) for entry in sorted(entries, key=lambda one: (one.name, one.value))]


def entry_points_of(group: str) -> Iterator[EntryPoint]:
    """Yield a group's entry points of all readable distributions; the first on the path wins."""
    seen: set[str] = set()
    for distribution in distributions():
        try:
            name = str(distribution.metadata["Name"])
            entries = [entry for entry in distribution.entry_points if entry.group == group]
        except Exception as error:  # noqa: BLE001 - broken metadata of one package hides no other
            _log.warning("plugin.package_unreadable", error=type(error).__name__)
            continue
        if name not in seen:
            yield from entries
        seen.add(name)


def _package(entry: EntryPoint) -> str:
    name = cast("str | None", entry.dist.name) if entry.dist else None
    return name or entry.value.partition(":")[0]
