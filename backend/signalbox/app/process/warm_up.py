"""What the first question would have to wait for, done beside a server that is ready."""

import asyncio

from fastapi import FastAPI
from starlette.types import Scope

from signalbox.app.deps import Parts

_SCOPE: Scope = {"type": "http", "method": "GET", "path": "/api/", "root_path": "", "headers": [], "query_string": b""}


async def warm_up(app: FastAPI, parts: Parts) -> None:
    """Have routes and tools at hand."""
    _put_routes_together(app)
    await asyncio.to_thread(parts.executor.prepare)


def _put_routes_together(app: FastAPI) -> None:
    """Ask every router whether this is its: FastAPI reads the signatures of a router's endpoints when first asked."""
    for route in app.routes:
        route.matches(dict(_SCOPE))
