"""Calls endpoints that start runs directly, past FastAPI's router, exit stacks and exception handlers.

Those cost a sixth of a short stream, and the endpoints use none of them: they read the request themselves. Their routes
stay in the router for OpenAPI and for other methods.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from signalbox.app.asgi.root_path import path_in_app
from signalbox.app.errors import error_response
from signalbox.core.errors import RequestError, StoreError

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class RouteBypass:
    """A pure ASGI middleware that handles an endpoint's errors as FastAPI's handlers do (`app/errors.py`)."""

    def __init__(self, app: ASGIApp, endpoints: Mapping[str, Endpoint]) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a POST to one of the endpoints, and pass on any other request."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        endpoint = self._endpoints.get(path_in_app(scope)) if is_post else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        try:
            response = await endpoint(Request(scope, receive, send))
        except RequestError as error:
            response = error_response(error, scope)
        except StoreError as error:
            response = error_response(RequestError(error.code), scope)
        await response(scope, receive, send)
