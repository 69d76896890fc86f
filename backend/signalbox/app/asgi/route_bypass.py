"""The short way of a question: past FastAPI's router, exit stacks and exception handlers, straight to its endpoint.

They cost a sixth of a short stream, and a question uses none of them: its endpoint reads the request itself. Its
route stays in the router all the same, for OpenAPI, and for what comes with another method.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from signalbox.app.errors import error_response
from signalbox.core.errors import RequestError, StoreError


class Express:
    """A pure ASGI middleware; what an endpoint raises is answered as FastAPI's handlers do (`app/errors.py`)."""

    def __init__(self, app: ASGIApp, *, path: str, endpoint: Callable[[Request], Awaitable[Response]]) -> None:
        self._app = app
        self._path = path
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a question, or pass on what is none."""
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._endpoint(Request(scope, receive, send))
        except RequestError as refusal:
            answer = error_response(refusal)
        except StoreError as error:
            answer = error_response(RequestError(error.code))
        await answer(scope, receive, send)
