"""Makes the tools of this process from the settings: built-in ones and those of plugins."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from signalbox.app.asgi.static_files import docs_folder
from signalbox.app.config import Settings
from signalbox.app.folders import notes_folder
from signalbox.core.images import ImageModel
from signalbox.core.tools import SearchBackend, Tool
from signalbox.services.addresses import Allowance
from signalbox.services.browser.installed import Chromium, find_chromium
from signalbox.services.browser.page_camera import ChromiumCamera
from signalbox.services.catalog import Catalog
from signalbox.services.fetch import PageFetcher
from signalbox.services.folder_pages import FolderPages
from signalbox.services.image_model import UpstreamImageModel
from signalbox.services.images import ImageLoader
from signalbox.services.notes import NotesFolder
from signalbox.services.products import PickedSource, ProductSetup, pick_source
from signalbox.services.search import Client, OnClose, pick
from signalbox.services.search.docs import DocsSearch
from signalbox.services.search.setup import SearchSetup
from signalbox.services.upstreams.registry import Upstreams
from signalbox.tools.registry import built_in, from_packages

# Indexing this project's documentation takes 0.2 s, once; larger folders are indexed in the background.
_INDEX_SECONDS = 0.5

NO_IMAGE_MODEL = "no image model is set; set SIGNALBOX_IMAGE_MODEL to a model with image output"
_SIMULATED_IMAGE_MODEL = "google/gemini-2.5-flash-image"
NOT_CONFIGURED = "Web search is not set up, so this server's documents and saved notes were searched instead."


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools, and whether a search costs money, which lowers the default limit of searches."""

    tools: list[Tool]
    search_is_paid: bool


async def fill_toolbox(
    settings: Settings,
    client: Client,
    folder: Path,
    extra_tools: Sequence[Tool],
    stack: AsyncExitStack,
    *,
    images: ImageModel | None = None,
) -> Toolbox:
    """Make every tool; `folder` is the data folder. A tool that cannot be used has the reason in `unavailable`."""
    search, why_not = search_of(settings, client, folder / "docs-index.sqlite", stack.callback)
    if isinstance(search, DocsSearch):
        await _prepare(search, stack)
    products = products_of(settings, client, stack.callback)
    ours = built_in_tools(settings, search, why_not, _notes_fault(notes_folder(settings)), products, images=images)
    names = {tool.spec.name for tool in (*ours, *extra_tools)}
    is_paid = any(source is not None and source.paid for source in (search, products[0]))
    return Toolbox([*ours, *extra_tools, *from_packages(names, on_close=stack.callback)], is_paid)


def built_in_tools(
    settings: Settings,
    search: SearchBackend | None,
    why_not: str | None,
    no_notes: str | None,
    products: PickedSource,
    *,
    images: ImageModel | None = None,
) -> list[Tool]:
    """Make the built-in tools; `why_not` and `no_notes` are the reasons if there is no search or no notes folder."""
    guide, notes = settings.signalbox_docs or docs_folder(), notes_folder(settings)
    chromium = chromium_of(settings)
    return built_in(
        search,
        why_not,
        pages=FolderPages(
            {"/guide/": guide, "/notes/": notes}, PageFetcher(Allowance.of(settings.signalbox_fetch_allow))
        ),
        notes=None if no_notes else NotesFolder(notes, on_saved=_on_saved(search)),
        notes_unavailable=no_notes,
        search_notice=search_notice_for(settings, search),
        products=products[0],
        products_unavailable=products[1],
        images=images,
        images_unavailable=None if images else NO_IMAGE_MODEL,
        camera=ChromiumCamera(chromium) if isinstance(chromium, Chromium) else None,
        camera_unavailable=None if isinstance(chromium, Chromium) else chromium,
    )


def search_of(
    settings: Settings, client: Client, index: Path | None, on_close: OnClose = lambda _: None
) -> tuple[SearchBackend | None, str | None]:
    """Return the search backend, or None and the reason; `index` is the file of the documents' index."""
    setup = SearchSetup(
        searxng_url=settings.searxng_url,
        docs_folder=settings.signalbox_docs or docs_folder(),
        own_docs=settings.signalbox_docs is None,
        client=client,
        brave=(settings.brave_base_url, _secret(settings.brave_api_key)),
        tavily=(settings.tavily_base_url, _secret(settings.tavily_api_key)),
        notes=notes_folder(settings),
        database=index,
    )
    return pick(settings.search_backend, setup, on_close)


def image_model_of(settings: Settings, upstreams: Upstreams, catalog: Catalog) -> ImageModel | None:
    """Return the model that draws images, None if the settings name none."""
    name = image_model_name(settings)
    return UpstreamImageModel(name, upstreams, catalog) if name else None


def image_model_name(settings: Settings) -> str | None:
    """Return the name of the model that draws images; the simulator has one."""
    return settings.signalbox_image_model or (_SIMULATED_IMAGE_MODEL if settings.is_simulated else None)


def chromium_of(settings: Settings) -> Chromium | str:
    """Return the browser for screenshots, or why there is none. It is not started here, which would take a second."""
    return find_chromium(settings.signalbox_chromium, is_sandboxed=settings.signalbox_chromium_sandbox)


def image_loader(settings: Settings, stack: AsyncExitStack) -> ImageLoader:
    """Return the loader of images in tables, which may fetch what `read_url` may fetch."""
    loader = ImageLoader(PageFetcher(Allowance.of(settings.signalbox_fetch_allow)))
    stack.push_async_callback(loader.aclose)
    return loader


def products_of(settings: Settings, client: Client, on_close: OnClose = lambda _: None) -> PickedSource:
    """Return the product source, or None and the reason."""
    setup = ProductSetup(
        client=client,
        json_config=settings.product_json,
        json_key=_secret(settings.product_json_key),
        scrapingbee=(settings.scrapingbee_base_url, _secret(settings.scrapingbee_api_key)),
        is_simulated=settings.is_simulated,
    )
    return pick_source(settings.product_source, setup, on_close)


def search_notice_for(settings: Settings, search: SearchBackend | None) -> str:
    """Return the notice for model and page if no backend is configured and the documentation is searched."""
    is_fallback = isinstance(search, DocsSearch) and not settings.search_backend and settings.signalbox_docs is None
    return NOT_CONFIGURED if is_fallback else ""


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value else None


def _on_saved(search: SearchBackend | None) -> Callable[[], None]:
    return search.changed if isinstance(search, DocsSearch) else lambda: None


def _notes_fault(notes: Path) -> str | None:
    """Create the notes folder; return why it cannot be created, or None."""
    try:
        notes.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"the notes folder cannot be created ({error.strerror}); set SIGNALBOX_NOTES_DIR to one that can"
    return None


async def _prepare(search: DocsSearch, stack: AsyncExitStack) -> None:
    """Index the documents; a large folder is finished in the background while the server is ready."""
    stack.callback(search.close)
    indexing = asyncio.create_task(search.prepare())
    await asyncio.wait({indexing}, timeout=_INDEX_SECONDS)
    stack.callback(indexing.cancel)
