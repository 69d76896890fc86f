"""The tools that come with Signalbox, and those that other packages bring; a new built-in one is one file and one line.

A package brings tools by an entry point of the group `signalbox.tools`: something that is called without arguments and
returns a Tool or a list of them.
"""

from collections.abc import Collection, Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import cast

import structlog

from signalbox.core.tools import NoteKeeper, PageSource, SearchBackend, Tool, ToolSpec
from signalbox.tools.calculate import calculate
from signalbox.tools.get_current_time import get_current_time
from signalbox.tools.lint import fault_of, safe_name
from signalbox.tools.read_url import read_url
from signalbox.tools.save_note import save_note
from signalbox.tools.search_web import search_web

GROUP = "signalbox.tools"

_log = structlog.get_logger(__name__)


def built_in(
    search: SearchBackend | None,
    search_unavailable: str | None,
    *,
    pages: PageSource | None = None,
    notes: NoteKeeper | None = None,
    notes_unavailable: str | None = None,
) -> list[Tool]:
    """Return every built-in tool, those that cannot be offered here with the reason in `unavailable`."""
    return [
        search_web(search, search_unavailable),
        read_url(pages),
        save_note(notes, notes_unavailable, found_by_search=search is not None and search.name == "docs"),
        get_current_time(),
        calculate(),
    ]


def from_packages(taken: Collection[str], found: Iterable[EntryPoint] | None = None) -> list[Tool]:
    """Return the tools of other packages; one that cannot be had is there with the reason, and ends nothing.

    `taken` are names that no package's tool may have.
    """
    tools: list[Tool] = []
    names = set(taken)
    for entry in sorted(entry_points(group=GROUP) if found is None else found, key=lambda one: (one.name, one.value)):
        for tool in _tools_of(entry):
            usable = _checked(tool, entry, names) if tool.unavailable is None else tool
            tools.append(_named(usable, names))
            names.add(tools[-1].spec.name)
    return tools


def _tools_of(entry: EntryPoint) -> Sequence[Tool]:
    """Load an entry point and call it."""
    try:
        made = cast(object, entry.load()())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package of somebody else's; nothing of it ends the start
        return [_missing(entry, _reason(error))]
    tools = list(cast("Sequence[object]", made)) if isinstance(made, list | tuple) else [made]
    if not tools or not all(isinstance(tool, Tool) for tool in tools):
        return [_missing(entry, "it did not return a Tool or a list of Tools")]
    return cast("list[Tool]", tools)


def _reason(error: BaseException) -> str:
    # Only import errors speak of nothing but names; other texts may hold paths and keys (quirk G4).
    words = f": {error}"[:200] if isinstance(error, ImportError) else ""
    return f"it could not be loaded ({type(error).__name__}{words})"


def _checked(tool: Tool, entry: EntryPoint, names: Collection[str]) -> Tool:
    if tool.spec.name in names:
        return _missing(entry, f'it is named "{tool.spec.name}", and there is a tool of that name already')
    fault = fault_of(tool)
    return tool if fault is None else _missing(entry, fault)


def _missing(entry: EntryPoint, reason: str) -> Tool:
    """Stand in for a tool that cannot be had, and log it by name."""
    package = entry.dist.name if entry.dist else entry.value.partition(":")[0]
    _log.warning("tool_not_loaded", entry=entry.name, package=package, reason=reason)
    spec = ToolSpec(safe_name(entry.name), f"A tool of the package {package}.", {"type": "object", "properties": {}})
    return Tool(spec, _never, f"{package}: {reason}")


async def _never(*_: object) -> None:
    raise AssertionError("a tool that is not available is never run")


def _named(tool: Tool, names: Collection[str]) -> Tool:
    """Give a stand-in a name of its own, so that it is listed beside the tool whose name it has."""
    if tool.spec.name not in names:
        return tool
    number = next(n for n in range(2, len(names) + 3) if f"{tool.spec.name[:56]}_{n}" not in names)
    spec = ToolSpec(f"{tool.spec.name[:56]}_{number}", tool.spec.description, tool.spec.parameters)
    return Tool(spec, _never, tool.unavailable)
