"""Starts of the app without work that has the same result each time, which is most of the CPU time of a start."""

import asyncio
import marshal
import os
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, wraps
from importlib.metadata import EntryPoint
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.routing import _EffectiveRouteContext as RouteContext
from httpx._transports import default as httpx_transports
from signalbox.app import main
from signalbox.app.asgi.static_files import docs_folder
from signalbox.app.openapi.document import operation_id
from signalbox.app.process import warm_up
from signalbox.core.catalog import ModelFacts
from signalbox.core.messages import JsonObject
from signalbox.services import upstream
from signalbox.services.http.connect import default_tls
from signalbox.services.products import plugin as product_plugin
from signalbox.services.search import docs, docs_index, docs_rank, docs_snippet
from signalbox.services.search import plugin as search_plugin
from signalbox.simulator.catalog import ROWS
from signalbox.simulator.http import app as simulator_app
from signalbox.simulator.model import zones
from signalbox.store.engines import sqlite
from signalbox.tools import plugins, registry
from signalbox.wire.openrouter import dialect
from signalbox.wire.openrouter.catalog import entries_of
from sqlalchemy import Engine

# The list of models of the simulator has 1,806 entries.
_MOST_MODELS = 4096
_MOST_ANSWERS = 16
_MOST_TEXTS = 4096

Function = Callable[..., Any]


def functions_with_cache() -> list[tuple[object, str, Function]]:
    """Return functions whose results depend only on their arguments and on installed packages, each with a cache.

    Each is the object that has the function, its name, and what replaces it.
    """
    stems = _frozen(docs_snippet.stems)
    return [
        (docs_index, "read_page", cache(docs_index.read_page)),
        (upstream, "loads", lru_cache(_MOST_ANSWERS)(upstream.loads)),
        (dialect, "facts_of", _cached_by_content(dialect.facts_of)),
        (sqlite, "upgrade", _upgrade_copy(sqlite.upgrade)),
        (httpx_transports, "create_ssl_context", _cached_tls(httpx.create_ssl_context)),
        *((module, "stems", stems) for module in (docs, docs_rank, docs_snippet)),
        (RouteContext, "from_api_route", _shared_route(RouteContext.from_api_route)),
    ]


def prepare() -> None:
    """Replace these functions in this process, and do what each start over the simulator does."""
    for owner, name, function in functions_with_cache():
        setattr(owner, name, function)
    plugins.entry_points_of = _listed_once(plugins.entry_points_of)
    for group in (registry.GROUP, search_plugin.GROUP, product_plugin.GROUP):
        plugins.entry_points_of(group)
    default_tls()
    zones._city()
    index = docs_index.DocsIndex({"guide": docs_folder()})
    index.refresh()
    index.close()
    answer: Any = upstream.loads(simulator_app._listed(ROWS, with_faults=True))
    for entry in entries_of(answer):
        dialect.facts_of(entry)
    app = FastAPI(generate_unique_id_function=operation_id)
    for module in main._ROUTES:
        app.include_router(module.router)
    warm_up._resolve_routes(app)


def _cached_by_content(read: Callable[[JsonObject], ModelFacts | None]) -> Callable[[JsonObject], ModelFacts | None]:
    @lru_cache(_MOST_MODELS)
    def of_bytes(content: bytes) -> ModelFacts | None:
        return read(marshal.loads(content))

    return lambda entry: of_bytes(marshal.dumps(entry, 2))  # this version writes equal objects as equal bytes


def _listed_once(find: Callable[[str], Iterator[EntryPoint]]) -> Callable[[str], Iterator[EntryPoint]]:
    found = cache(lambda group: tuple(find(group)))
    return lambda group: iter(found(group))


def _frozen(stems: Callable[[str], set[str]]) -> Callable[[str], frozenset[str]]:
    return lru_cache(_MOST_TEXTS)(lambda text: frozenset(stems(text)))


def _upgrade_copy(upgrade: Callable[[Engine], None]) -> Callable[[Engine], None]:
    """Return a function that fills a new database with a copy of a migrated one."""
    migrated = _migrated()

    def upgrade_copy(engine: Engine) -> None:
        file = Path(str(engine.url.database))
        if file.stat().st_size == 0:
            file.write_bytes(migrated)
        upgrade(engine)

    return upgrade_copy


def _migrated() -> bytes:
    async def create(file: Path) -> None:
        database = sqlite.SqliteDatabase(file)
        await database.open()
        await database.aclose()

    with TemporaryDirectory() as folder:
        file = Path(folder) / "database.sqlite"
        asyncio.run(create(file))
        return file.read_bytes()


def _cached_tls(create: Function) -> Function:
    """Return a function that reads certificates once for each value of the variables that name them."""

    @lru_cache(_MOST_ANSWERS)
    def of_names(names: tuple[str | None, ...], arguments: tuple[tuple[str, object], ...]) -> object:
        return create(**dict(arguments))

    def cached(**arguments: object) -> object:
        return of_names((os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")), tuple(arguments.items()))

    return cached


def _shared_route(build: Function) -> Function:
    """Return a function that builds what FastAPI knows of a route once, for all apps that include it.

    It reads the signatures of the endpoint and its dependencies. Signalbox includes each router in only one way.
    """

    @wraps(build)
    def shared(*, original_route: APIRoute, **arguments: object) -> object:
        known = vars(original_route)
        if "shared_context" not in known:
            known["shared_context"] = build(original_route=original_route, **arguments)
        return known["shared_context"]

    return shared
