"""Every failure before a run as one shape: `{error: {code, message, field?}}`, never a stack trace."""

from pathlib import Path
from traceback import extract_tb
from typing import Any

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from signalbox.core.errors import CODES, Code, RequestError
from signalbox.core.messages import JsonObject

_log = structlog.get_logger()
_VALIDATORS = ("list[", "dict[", "literal[", "str", "function-", "constrained-", "nullable", "json")
_BY_STATUS = {404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED}


def error_response(error: RequestError, headers: dict[str, str] | None = None) -> Response:
    """Answer with an error's status, code, sentence and field."""
    fact = CODES[error.code]
    body: JsonObject = {"code": str(error.code), "message": error.message, "todo": fact.todo}
    if error.field:
        body["field"] = error.field
    return Response(orjson.dumps({"error": body}), fact.http, headers, media_type="application/json")


def request_error_of(error: ValidationError | RequestValidationError) -> RequestError:
    """Name the field that is wrong; fields that do not exist are named all together."""
    errors = list(error.errors())
    unknown = [_path(e) for e in errors if e["type"] == "extra_forbidden"]
    if unknown:
        names = ", ".join(unknown)
        return RequestError(Code.UNKNOWN_FIELD, f"The request has fields that do not exist: {names}.", unknown[0])
    first = errors[0]
    field = _path(first)
    says = str(first["msg"]).removeprefix("Value error, ")
    return RequestError(Code.INVALID_REQUEST, f"{field or 'The request'}: {says}.", field or None)


def _path(error: Any) -> str:
    """Write where an error is as a dotted path; pydantic puts the tags of unions in between."""
    return ".".join(str(part) for part in error["loc"] if not _is_tag(part))


def _is_tag(part: str | int) -> bool:
    tags = ("system", "developer", "user", "assistant", "tool", "text", "image_url", "file")
    return isinstance(part, str) and (part in tags or part.startswith(_VALIDATORS))


def add_error_handlers(app: FastAPI) -> None:
    """Answer all that routes may raise."""

    @app.exception_handler(RequestError)
    async def _refused(request: Request, error: RequestError) -> Response:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        return error_response(request_error_of(error))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        code = _BY_STATUS.get(error.status_code, Code.INVALID_REQUEST)
        message = ""
        if error.status_code == 405:
            message = f"{request.method} is not taken here; use {(error.headers or {}).get('Allow', 'another method')}."
        answer = error_response(RequestError(code, message), dict(error.headers or {}))
        answer.status_code = error.status_code
        return answer


class LastResort:
    """Answers what nobody caught with a plain 500, and logs where it broke, not what was said."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and catch."""
        has_started = False

        async def watched(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if scope["type"] != "http":
                raise
            frames = extract_tb(error.__traceback__)
            where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"
            _log.error("request.broke", path=scope["path"], error=type(error).__name__, where=where)
            if not has_started:
                await error_response(RequestError(Code.INTERNAL))(scope, receive, send)
