"""Every failure before a run as an answer in its protocol's shape, never a stack trace."""

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
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.intakes.validation import first_fault

_log = structlog.get_logger()
# Of every 503: too many runs, a server that restarts, a disk that is ill. All of them pass in seconds.
_RETRY_SECONDS = 2.0
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_BY_STATUS = {404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED}


class _Refusal(Response):
    """An error as an answer; it leaves its code for the log."""

    def __init__(self, code: Code, content: bytes, status: int, headers: dict[str, str] | None) -> None:
        super().__init__(content, status, headers, media_type="application/json")
        self._code = code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        info_of(scope).code = str(self._code)
        await super().__call__(scope, receive, send)


def error_response(error: RequestError, scope: Scope, headers: dict[str, str] | None = None) -> Response:
    """Answer in the shape of the request's protocol, and with the seconds to wait before a retry where that helps."""
    status, body = info_of(scope).error_of(error)
    wait = _RETRY_SECONDS if error.retry_after is None and error.status == 503 else error.retry_after
    if wait is not None:  # whole seconds, and none too few: who waits so long is not refused once more
        headers = {"retry-after": str(max(1, ceil(wait))), **(headers or {})}
    return _Refusal(error.code, body, status, headers)


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error that routes may raise."""

    @app.exception_handler(RequestError)
    async def _refused(request: Request, error: RequestError) -> Response:
        return error_response(error, request.scope)

    @app.exception_handler(StoreError)
    async def _unkept(request: Request, error: StoreError) -> Response:
        return error_response(RequestError(error.code), request.scope)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        return error_response(first_fault(error.errors()), request.scope)

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        code, headers = _BY_STATUS.get(error.status_code, Code.INVALID_REQUEST), dict(error.headers or {})
        message = ""
        if error.status_code == 405:
            told = headers.pop("Allow", "")
            headers["allow"] = ", ".join(_methods_of(request)) or told
            message = f"{request.method} is not supported here; use {headers['allow'] or 'another method'}."
        return error_response(RequestError(code, message, status=error.status_code), request.scope, headers)


def _methods_of(request: Request) -> list[str]:
    """Return all methods that an address takes: the router names those of its first route alone."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    asked = ({**request.scope, "method": method} for method in _METHODS)
    return [scope["method"] for scope in asked if any(route.matches(scope)[0] is Match.FULL for route in routes)]


class LastResort:
    """Answers uncaught exceptions with a plain 500, and logs where they happened without their message."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and catch."""
        has_started = False

        async def watched(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            refusal = sys.exc_info()[1] if message["type"] == "lifespan.startup.failed" else None
            # A start that the operator can repair fails with a sentence, not with a stack trace.
            if isinstance(refusal, SettingsError):
                scope["app"].state.refusal = refusal
                message = {**message, "message": f"signalbox: {refusal}"}
            await send(message)

        try:
            await self._app(scope, receive, watched)
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
            _log.error("request.broke", request_id=info.id, path=scope["path"], error=kind, where=where)
            if not has_started:
                await error_response(RequestError(Code.INTERNAL), scope)(scope, receive, send)
