"""A request that starts a run goes past FastAPI's router, exit stacks and exception handlers, to its endpoint.

They cost a sixth of a short stream, and the endpoint uses none of them: it reads the request itself. Its route stays in
the router for OpenAPI, and for requests with another method.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from signalbox.app.errors import error_response
from signalbox.core.errors import RequestError, StoreError

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class RouteBypass:
    """A pure ASGI middleware; errors of an endpoint are answered as FastAPI's handlers do (`app/errors.py`)."""

    def __init__(self, app: ASGIApp, endpoints: Mapping[str, Endpoint]) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a POST to one of the endpoints, and pass on any other request."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        endpoint = self._endpoints.get(scope["path"]) if is_post else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        try:
            answer = await endpoint(Request(scope, receive, send))
        except RequestError as refusal:
            answer = error_response(refusal, scope)
        except StoreError as error:
            answer = error_response(RequestError(error.code), scope)
        await answer(scope, receive, send)
