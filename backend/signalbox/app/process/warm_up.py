"""Warm-up in the background after the start, so that the first question does not wait for it."""

import asyncio

from fastapi import FastAPI
from starlette.types import Scope

from signalbox.app.deps import Services
from signalbox.chat.leaks.filter import opener_pattern

_SCOPE: Scope = {"type": "http", "method": "GET", "path": "/api/", "root_path": "", "headers": [], "query_string": b""}


async def warm_up(app: FastAPI, services: Services) -> None:
    """Prepare routes, tools, and the search for leaked calls."""
    _resolve_routes(app)
    await asyncio.to_thread(opener_pattern)
    await asyncio.to_thread(services.executor.prepare)


def _resolve_routes(app: FastAPI) -> None:
    """Match a path against every router: FastAPI reads the signatures of endpoints on the first match."""
    for route in app.routes:
        route.matches(dict(_SCOPE))
