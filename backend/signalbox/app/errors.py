"""Error responses, in the format of the request's protocol and without stack traces."""

import sys
from math import ceil
from pathlib import Path
from traceback import extract_tb

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from signalbox.app.asgi.request_id import info_of
from signalbox.app.config import SettingsError
from signalbox.app.request.query_parameters import parameter_fault
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError

_log = structlog.get_logger()
# For every 503: a full server, a restart or a disk fault usually lasts seconds.
_RETRY_SECONDS = 2.0
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_BY_STATUS = {404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED}


class _ErrorResponse(Response):
    """An error response; it passes its code to the log."""

    def __init__(self, code: Code, content: bytes | str, status: int, headers: dict[str, str] | None) -> None:
        kind = "application/json" if isinstance(content, bytes) else "text/plain"
        super().__init__(content, status, headers, media_type=kind)
        self._code = code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        info_of(scope).code = str(self._code)
        await super().__call__(scope, receive, send)


def error_response(error: RequestError, scope: Scope, headers: dict[str, str] | None = None) -> Response:
    """Return an error in the format of the request's protocol, with `retry-after` if a retry may help."""
    status, body = info_of(scope).error_of(error)
    wait = _RETRY_SECONDS if error.retry_after is None and error.status == 503 else error.retry_after
    if wait is not None:  # rounded up, so that a client that waits is not rejected again
        headers = {"retry-after": str(max(1, ceil(wait))), **(headers or {})}
    return _ErrorResponse(error.code, body, status, headers)


def add_error_handlers(app: FastAPI) -> None:
    """Handle every error that routes raise."""

    @app.exception_handler(RequestError)
    async def _request_error(request: Request, error: RequestError) -> Response:
        return error_response(error, request.scope)

    @app.exception_handler(StoreError)
    async def _store_error(request: Request, error: StoreError) -> Response:
        return error_response(RequestError(error.code), request.scope)

    @app.exception_handler(RequestValidationError)
    async def _validation_error(request: Request, error: RequestValidationError) -> Response:
        return error_response(parameter_fault(error.errors()), request.scope)

    @app.exception_handler(HTTPException)
    async def _http_error(request: Request, error: HTTPException) -> Response:
        code, headers = _BY_STATUS.get(error.status_code, Code.INVALID_REQUEST), dict(error.headers or {})
        message = ""
        if error.status_code == 405:
            allowed = headers.pop("Allow", "")
            headers["allow"] = ", ".join(_methods_of(request)) or allowed
            message = f"{request.method} is not supported here; use {headers['allow'] or 'another method'}."
        return error_response(RequestError(code, message, status=error.status_code), request.scope, headers)


def _methods_of(request: Request) -> list[str]:
    """Return all methods of a path. Starlette names only those of the first matching route."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    scopes = ({**request.scope, "method": method} for method in _METHODS)
    return [scope["method"] for scope in scopes if any(route.matches(scope)[0] is Match.FULL for route in routes)]


class UncaughtErrors:
    """Answers uncaught exceptions with a plain 500, and logs where they happened without their message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the app and catch its exceptions."""
        has_started = False

        async def observed_send(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            error = sys.exc_info()[1] if message["type"] == "lifespan.startup.failed" else None
            # A settings error is reported as a sentence, not as a stack trace.
            if isinstance(error, SettingsError):
                scope["app"].state.startup_error = error
                message = {**message, "message": f"signalbox: {error}"}
            await send(message)

        try:
            await self._app(scope, receive, observed_send)
        except ClientDisconnect:
            return  # a client that disconnects during its upload gets no answer
        except Exception as error:
            if scope["type"] != "http":
                raise
            frames = extract_tb(error.__traceback__)
            where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
            info = info_of(scope)
            info.is_logged = True
            kind = type(error).__name__
            _log.error("request.internal_error", request_id=info.id, path=scope["path"], error=kind, where=where)
            if not has_started:
                await error_response(RequestError(Code.INTERNAL), scope)(scope, receive, send)
