"""Checks web search and product search with one real query each, and names the tools that are not offered."""

import asyncio
import os
from pathlib import Path

from signalbox.app.config import Settings
from signalbox.app.folders import notes_folder
from signalbox.app.tool_setup import (
    NO_IMAGE_MODEL,
    built_in_tools,
    chromium_of,
    image_model_name,
    products_of,
    search_notice_for,
    search_of,
)
from signalbox.commands.doctor.finding import Finding, fail, ok, warn
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.products import ProductQuery, ProductSource
from signalbox.core.tools import SearchBackend, SearchQuery
from signalbox.services.products import NOT_SET_UP, PickedSource
from signalbox.services.search import Client
from signalbox.services.search.docs import DocsSearch
from signalbox.tools.registry import from_packages

SECONDS = 5.0
_QUERY = SearchQuery("how to stop a run", limit=3)
_UNCONFIGURED = " Web search is not configured: set BRAVE_API_KEY, TAVILY_API_KEY or SEARXNG_URL for it."
_PRODUCTS = ProductQuery("mug", limit=1)
_PRODUCT_SETTINGS = "Check PRODUCT_SOURCE and the settings of that source in .env."
_SETTINGS = "Check SEARCH_BACKEND and the settings of that backend in .env."


async def check_search(settings: Settings, client: Client) -> list[Finding]:
    """Search once. Documents are indexed in memory, so that a server's index is not touched."""
    search, why_not = await asyncio.to_thread(search_of, settings, client, None)
    try:
        found = await _searched(search, why_not, search_notice_for(settings, search) and _UNCONFIGURED)
    finally:
        if isinstance(search, DocsSearch):  # in the background: it waits for the index
            asyncio.get_running_loop().run_in_executor(None, search.close)
    products = await asyncio.to_thread(products_of, settings, client)
    return [
        found,
        await _products_searched(*products),
        _images(settings),
        *await asyncio.to_thread(_tools, settings, search, why_not, products),
    ]


def _images(settings: Settings) -> Finding:
    """Name the image model. It is not asked, because each image costs money."""
    name = image_model_name(settings)
    if name is None:
        return ok("images", "No image model is set: SIGNALBOX_IMAGE_MODEL names one for the tools that draw images.")
    return ok("images", f"generate_images, edit_image and remove_background use {name}, which is not asked here.")


async def _products_searched(source: ProductSource | None, why_not: str | None) -> Finding:
    """Search for products once. A paid source is not asked, because each of its searches costs money."""
    if source is None:
        if why_not == NOT_SET_UP:
            return ok("products", "Product search is not set up: docs/product-search.md says how.")
        return warn("products", f"Product search is not available: {why_not}.", _PRODUCT_SETTINGS)
    if source.paid:
        return ok("products", f"{source.name} is set up, and not asked, because its searches cost money.")
    try:
        async with asyncio.timeout(SECONDS):
            found = await source.search(_PRODUCTS)
    except TimeoutError:
        return fail("products", f"{source.name} does not answer within {SECONDS:g} s.", _PRODUCT_SETTINGS)
    except ToolError as error:
        state = warn if error.code is Code.RATE_LIMIT else fail
        return state("products", f"{source.name}: {error.message}", _PRODUCT_SETTINGS)
    words = f"{source.name} answers; it searches {source.about}."
    return ok("products", words if found else f"{words} It has nothing for “{_PRODUCTS.text}”.")


async def _searched(search: SearchBackend | None, why_not: str | None, more: str) -> Finding:
    if search is None:
        return warn("search", f"Search is not available: {why_not}.", _SETTINGS)
    try:
        async with asyncio.timeout(SECONDS):
            hits = await search.search(_QUERY)
    except TimeoutError:
        if isinstance(search, DocsSearch):
            words = f"docs: indexing {search.about} takes more than {SECONDS:g} s."
            return warn(
                "search",
                words,
                "Nothing, if the folder is meant to be that large; the first searches wait for the index.",
            )
        return fail("search", f"{search.name} does not answer within {SECONDS:g} s.", _SETTINGS)
    except ToolError as error:
        state = warn if error.code is Code.RATE_LIMIT else fail
        return state("search", f"{search.name}: {error.message}", _SETTINGS)
    if not hits and not isinstance(search, DocsSearch):
        return warn("search", f"{search.name} answers but finds nothing.", _SETTINGS)
    return ok("search", f"{search.name} answers; it searches {search.about}.{more}")


def _tools(
    settings: Settings, search: SearchBackend | None, why_not: str | None, products: PickedSource
) -> list[Finding]:
    ours = built_in_tools(settings, search, why_not, _no_notes(notes_folder(settings)), products)
    every = [*ours, *from_packages({tool.spec.name for tool in ours})]
    every = [tool for tool in every if tool.unavailable not in (NOT_SET_UP, NO_IMAGE_MODEL, chromium_of(settings))]
    missing = [f"{tool.spec.name} is not offered: {tool.unavailable}" for tool in every if tool.unavailable]
    offered = ", ".join(tool.spec.name for tool in every if not tool.unavailable)
    if not missing:
        return [ok("tools", f"All are offered: {offered}.")]
    words = f"{'; '.join(missing)}. Offered are {offered}."
    return [warn("tools", words, "Fix these causes, or ignore them if you do not need these tools.")]


def _no_notes(folder: Path) -> str | None:
    """Return why the notes folder cannot be created, without creating it; None if it can."""
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if one.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return None
    return f"the notes folder {folder} cannot be created or written; set SIGNALBOX_NOTES_DIR to a writable folder"
