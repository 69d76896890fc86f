"""Backends of plugins: loaded from entry points, checked, and called on the plugin's thread.

An entry point of the group is a callable without arguments that returns a backend or raises SearchUnavailableError. A
setting selects it by its name.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.failure_location import failure_location
from signalbox.core.tools import SearchUnavailableError
from signalbox.tools.plugin_thread import PluginThread
from signalbox.tools.plugins import Plugin, PluginFaultError, in_plugin, plugins_of

OnClose: TypeAlias = Callable[[Callable[[], None]], object]

_LONGEST_ABOUT = 200

_log = structlog.get_logger(__name__)


def names_of(group: str) -> list[str]:
    """Return the names of the backends of installed packages."""
    return list(dict.fromkeys(plugin.name.lower() for plugin in plugins_of(group)))


@dataclass(frozen=True, slots=True)
class PluginBackend:
    """A plugin's backend, and what it says of itself. `kind` names it in messages, such as "search backend"."""

    name: str
    kind: str
    about: str
    paid: bool
    backend: object
    thread: PluginThread

    async def call(self, work: Callable[[], object]) -> object:
        """Call `work` on the plugin's thread; raises ToolError."""
        try:
            return await self.thread.run(work)
        except ToolError:
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                raise
            raise self.failed(error) from None

    def failed(self, error: BaseException) -> ToolError:
        """Log a failure, and return the error for the model."""
        _log.warning(
            "search_backend.failed", backend=self.name, error=type(error).__name__, raised_at=failure_location(error)
        )
        return ToolError(Code.TOOL_FAILED, f"The {self.kind} {self.name} failed; answer without it.")


def load_backend(group: str, name: str, kind: str, setting: str, on_close: OnClose) -> PluginBackend:
    """Load a backend by name; raises SearchUnavailableError."""
    plugin = next(one for one in plugins_of(group) if one.name.lower() == name)
    thread = plugin.open()
    on_close(thread.close)
    try:
        backend = _create(plugin, thread)
        read = in_plugin(thread, lambda: _described(backend), "checked")
        if isinstance(read, str):
            raise PluginFaultError(read)  # noqa: TRY301 - all faults are handled below
    except PluginFaultError as fault:
        _log.warning("search_backend.not_loaded", **plugin.facts_of(fault))
        raise SearchUnavailableError(f"{setting} is {name}, and {plugin.package} says: {fault.reason}") from None
    about, paid = read
    return PluginBackend(name, kind, about, paid, backend, thread)


def _create(plugin: Plugin, thread: PluginThread) -> object:
    made = in_plugin(thread, lambda: _called(plugin), "loaded")
    if isinstance(made, SearchUnavailableError):
        raise PluginFaultError(str(made)[:500])
    return made


def _called(plugin: Plugin) -> object:
    """Call the entry point; return the plugin's own SearchUnavailableError as a value, because it may be shown."""
    try:
        return cast(object, plugin.entry.load()())
    except SearchUnavailableError as reason:
        return reason


def _described(backend: object) -> tuple[str, bool] | str:
    """Return `about` and `paid` of a backend, or what is wrong with it."""
    about, paid = cast(object, getattr(backend, "about", None)), cast(object, getattr(backend, "paid", False))
    if not callable(getattr(backend, "search", None)):
        return "what it returned has no method search"
    if not isinstance(about, str) or not about.strip():
        return "its about is not a text that says what it searches"
    if not isinstance(paid, bool):
        return "its paid is neither true nor false"
    return about.strip()[:_LONGEST_ABOUT], paid
