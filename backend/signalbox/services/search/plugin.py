"""Search backends of plugins: loaded from entry points, checked, and called on the plugin's thread.

An entry point of the group `signalbox.search_backends` is a callable without arguments that returns a SearchBackend or
raises SearchUnavailableError. SEARCH_BACKEND selects it by its name.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.failure_location import failure_location
from signalbox.core.tools import SearchBackend, SearchHit, SearchQuery, SearchUnavailableError
from signalbox.tools.plugin_thread import PluginThread
from signalbox.tools.plugins import Plugin, PluginFaultError, in_plugin, plugins_of

GROUP = "signalbox.search_backends"

OnClose: TypeAlias = Callable[[Callable[[], None]], object]

_LONGEST_ABOUT = 200

_log = structlog.get_logger(__name__)


def plugin_names() -> list[str]:
    """Return the names of the backends of installed packages."""
    return list(dict.fromkeys(plugin.name.lower() for plugin in plugins_of(GROUP)))


def plugin_backend(name: str, on_close: OnClose) -> SearchBackend:
    """Load a backend by name; raises SearchUnavailableError."""
    plugin = next(one for one in plugins_of(GROUP) if one.name.lower() == name)
    thread = plugin.open()
    on_close(thread.close)
    try:
        backend = _create(plugin, thread)
        read = in_plugin(thread, lambda: _described(backend), "checked")
        if isinstance(read, str):
            raise PluginFaultError(read)  # noqa: TRY301 - all faults are handled below
    except PluginFaultError as fault:
        _log.warning("search_backend.not_loaded", **plugin.facts_of(fault))
        raise SearchUnavailableError(f"SEARCH_BACKEND is {name}, and {plugin.package} says: {fault.reason}") from None
    about, paid = read
    return PluginSearch(name, about, paid, backend, thread)


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


@dataclass(slots=True)
class PluginSearch:
    """Wraps a plugin's SearchBackend; turns its exceptions into ToolError and validates its hits."""

    name: str
    about: str
    paid: bool
    backend: object
    thread: PluginThread

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        """Return at most `query.limit` hits; raises ToolError."""
        try:
            found = await self.thread.run(lambda: cast(SearchBackend, self.backend).search(query))
            return _hits(found, query.limit)
        except ToolError:
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
                raise
            _log.warning(
                "search_backend.failed",
                backend=self.name,
                error=type(error).__name__,
                raised_at=failure_location(error),
            )
            raise ToolError(Code.TOOL_FAILED, f"The search backend {self.name} failed; answer without it.") from None


def _hits(found: object, most: int) -> list[SearchHit]:
    """Return the first hits of a plugin's result; raises TypeError for anything else."""
    if not isinstance(found, list | tuple):
        raise TypeError("not a list of SearchHit")
    first = cast("list[object]", found)[:most]
    if not all(isinstance(one, SearchHit) for one in first):
        raise TypeError("not a list of SearchHit")
    hits = cast("list[SearchHit]", first)
    texts = [text for one in hits for text in (one.title, one.url, one.snippet, one.published or "")]
    if not all(isinstance(cast(object, text), str) for text in texts):
        raise TypeError("a hit holds something other than text")
    return list(hits)
