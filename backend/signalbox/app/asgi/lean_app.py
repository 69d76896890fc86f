"""A FastAPI app with only our middlewares."""

from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from signalbox.app.asgi.root_path import place_under
from signalbox.app.asgi.security import ResponseHeaders


class LeanApp(FastAPI):
    """A FastAPI app whose outermost middleware is `ResponseHeaders`.

    FastAPI wraps three more around it, for errors, telemetry and large bodies. They have nothing to do here, but each
    costs a coroutine per open stream, and one of them a call per event.
    """

    root = ""
    """The path prefix of a reverse proxy."""

    def build_middleware_stack(self) -> ASGIApp:
        """Drop the middlewares around ours."""
        stack: Any = super().build_middleware_stack()
        while not isinstance(stack, ResponseHeaders):
            stack = stack.app
        return stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or the lifespan."""
        if self.middleware_stack is None:
            self.middleware_stack = self.build_middleware_stack()
        scope["app"] = self
        if scope["type"] != "lifespan":
            place_under(scope, self.root)
        await self.middleware_stack(scope, receive, send)
