"""The built-in tools and those of plugins. A new built-in tool is one file and one line here.

An entry point of the group `signalbox.tools` is a Tool, as `@tool` makes one, a list of Tools, or a callable without
arguments that returns either.
The code of a plugin runs on a separate thread (`tools/plugin_thread.py`).
"""

from collections.abc import Callable, Collection, Iterable
from importlib.metadata import EntryPoint
from typing import cast

import structlog

from signalbox.core.images import ImageModel, PageCamera
from signalbox.core.products import ProductSource
from signalbox.core.tools import NoteStore, PageFetcher, SearchBackend, Tool, ToolSpec
from signalbox.tools.calculate import calculate
from signalbox.tools.files.create_file import create_file
from signalbox.tools.files.edit_file import edit_file
from signalbox.tools.files.list_files import list_files
from signalbox.tools.files.read_file import read_file
from signalbox.tools.files.retrieve_option import retrieve_option
from signalbox.tools.get_current_time import get_current_time
from signalbox.tools.images.edit_image import edit_image
from signalbox.tools.images.generate_images import generate_images
from signalbox.tools.images.remove_background import remove_background
from signalbox.tools.images.screenshot_preview import screenshot_preview
from signalbox.tools.lint import fault_of, safe_name
from signalbox.tools.plugin_thread import PluginThread
from signalbox.tools.plugin_tool import isolated
from signalbox.tools.plugins import Plugin, PluginFaultError, in_plugin, plugins_of
from signalbox.tools.read_url import read_url
from signalbox.tools.save_note import save_note
from signalbox.tools.search_products import search_products
from signalbox.tools.search_web import search_web

GROUP = "signalbox.tools"

_log = structlog.get_logger(__name__)


def built_in(
    search: SearchBackend | None,
    search_unavailable: str | None,
    *,
    pages: PageFetcher | None = None,
    notes: NoteStore | None = None,
    notes_unavailable: str | None = None,
    search_notice: str = "",
    products: ProductSource | None = None,
    products_unavailable: str | None = None,
    images: ImageModel | None = None,
    images_unavailable: str | None = None,
    camera: PageCamera | None = None,
    camera_unavailable: str | None = None,
) -> list[Tool]:
    """Return every built-in tool; one that cannot be used has the reason in `unavailable`."""
    return [
        search_web(search, search_unavailable, notice=search_notice),
        search_products(products, products_unavailable),
        read_url(pages),
        save_note(notes, notes_unavailable, found_by_search=search is not None and search.name == "docs"),
        get_current_time(),
        calculate(),
        create_file(),
        edit_file(),
        read_file(),
        list_files(),
        retrieve_option(),
        *(make(images, images_unavailable) for make in (generate_images, edit_image, remove_background)),
        screenshot_preview(camera, camera_unavailable),
    ]


def from_packages(
    taken: Collection[str],
    found: Iterable[EntryPoint] | None = None,
    *,
    on_close: Callable[[Callable[[], None]], object] = lambda _: None,
) -> list[Tool]:
    """Return the tools of plugins; one that cannot be loaded becomes an unavailable tool with the reason.

    `taken` are names that no plugin's tool may have. `on_close` receives a function that stops each plugin's thread.
    """
    tools: list[Tool] = []
    names = set(taken)
    for plugin in plugins_of(GROUP, found):
        thread = plugin.open()
        on_close(thread.close)
        for tool in _tools_of(plugin, thread, names):
            tools.append(_named(tool, names))
            names.add(tools[-1].spec.name)
    return tools


def _tools_of(plugin: Plugin, thread: PluginThread, taken: Collection[str]) -> list[Tool]:
    """Load a plugin and return its tools; one that cannot be used is replaced by a stand-in."""
    try:
        made = _create(plugin, thread)
    except PluginFaultError as fault:
        return [_missing(plugin, fault)]
    tools: list[Tool] = []
    for tool in made:
        try:
            _check(tool, thread, {*taken, *(one.spec.name for one in tools)})
            tools.append(isolated(tool, thread))
        except PluginFaultError as fault:
            tools.append(_missing(plugin, fault))
    return tools


def _create(plugin: Plugin, thread: PluginThread) -> list[Tool]:
    made = plugin.make(thread, ready=(Tool, list, tuple))
    tools = list(cast("list[object]", made)) if isinstance(made, list | tuple) else [made]
    if not tools or not all(isinstance(tool, Tool) for tool in tools):
        raise PluginFaultError("it did not return a Tool or a list of Tools")
    return cast("list[Tool]", tools)


def _check(tool: Tool, thread: PluginThread, names: Collection[str]) -> None:
    """Raise PluginFaultError for a tool that cannot be offered."""
    if (reason := in_plugin(thread, lambda: fault_of(tool), "checked")) is not None:
        raise PluginFaultError(reason)
    if tool.spec.needs_workspace:  # its functions belong to the server's event loop
        raise PluginFaultError("it sets needs_workspace, but only built-in tools can use the files of a conversation")
    if tool.spec.name in names and tool.unavailable is None:
        raise PluginFaultError(f'it is named "{tool.spec.name}", and there is a tool of that name already')


def _missing(plugin: Plugin, fault: PluginFaultError) -> Tool:
    """Return an unavailable stand-in for a tool, and log why."""
    _log.warning("tool.not_loaded", **plugin.facts_of(fault))
    description = f"A tool from the package {plugin.package}."
    spec = ToolSpec(safe_name(plugin.name), description, {"type": "object", "properties": {}})
    return Tool(spec, _never, f"{plugin.package}: {fault.reason}")


async def _never(*_: object) -> None:
    raise AssertionError("an unavailable tool is never run")


def _named(tool: Tool, names: Collection[str]) -> Tool:
    """Rename a stand-in whose name another tool has, so that both are listed."""
    if tool.spec.name not in names:
        return tool
    number = next(n for n in range(2, len(names) + 3) if f"{tool.spec.name[:56]}_{n}" not in names)
    spec = ToolSpec(f"{tool.spec.name[:56]}_{number}", tool.spec.description, tool.spec.parameters)
    return Tool(spec, _never, tool.unavailable)
