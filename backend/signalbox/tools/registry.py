"""The tools that come with Signalbox; a new one is one file here and one line below."""

from signalbox.core.tools import SearchBackend, Tool
from signalbox.tools.calculate import calculate
from signalbox.tools.get_current_time import get_current_time
from signalbox.tools.search_web import search_web


def built_in(search: SearchBackend | None, search_unavailable: str | None) -> list[Tool]:
    """Return every built-in tool, those that cannot be offered here with the reason in `unavailable`."""
    return [search_web(search, search_unavailable), get_current_time(), calculate()]
