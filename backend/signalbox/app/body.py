"""A request's body to a ChatRequest: read within a limit, parsed strictly, every fault named."""

import re
from typing import TypeVar

import orjson
from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from signalbox.app.errors import request_error_of
from signalbox.app.heads import headers_of
from signalbox.core.errors import Code, RequestError
from signalbox.core.in_flight import FREE, IN_FLIGHT, Share
from signalbox.core.messages import JsonValue

# Deeper nesting costs many times its size in memory and no client needs it (quirk G6).
_DEPTH = 64
# Lists and objects; reading millions of them takes seconds, in which nobody else's stream moves.
_MOST_CONTAINERS = 200_000
_STRING = re.compile(rb'"[^"]*"')

Model = TypeVar("Model", bound=BaseModel)


async def read_json(request: Request, limit: int) -> JsonValue:
    """Read a JSON body of at most `limit` bytes, counted while it comes; raises RequestError."""
    announced = headers_of(request.scope).get(b"content-length", b"0")
    if len(announced) > len(str(limit)) or int(announced) > limit:
        raise _too_large(limit)
    with IN_FLIGHT.share() as share:
        body = await _whole(request, limit, share)
    containers = body.count(b"[") + body.count(b"{")  # at most: what stands in strings is among them
    if containers > _MOST_CONTAINERS and _has_too_many_containers(body):
        words = f"The body holds more than {_MOST_CONTAINERS:,} lists and objects."
        raise RequestError(Code.INVALID_REQUEST, words, "body")
    try:
        # orjson itself refuses NaN, invalid UTF-8 and more than 1,024 levels.
        value: JsonValue = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(Code.INVALID_JSON, f"The body is not valid JSON: {_reason(error)}.", "body") from None
    if containers > _DEPTH and is_too_deep(value):
        raise RequestError(Code.INVALID_REQUEST, f"The body is nested deeper than {_DEPTH} levels.", "body")
    return value


async def _whole(request: Request, limit: int, share: Share) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:  # not by request.stream: an async generator costs as much again as reading and parsing
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        if size > FREE and not share.hold(size):
            raise RequestError(Code.TOO_MUCH_AT_ONCE, retry_after=1.0)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _too_large(limit: int) -> RequestError:
    return RequestError(Code.BODY_TOO_LARGE, f"The body is larger than {limit / 1024 / 1024:g} MB.", "body")


async def read_model(request: Request, model: type[Model], limit: int) -> Model:
    """Read a body that fits a schema; raises RequestError naming the field that does not."""
    value = await read_json(request, limit)
    if not isinstance(value, dict):
        raise RequestError(Code.INVALID_REQUEST, "The body must be a JSON object.", "body")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise request_error_of(error, value) from None


def _has_too_many_containers(body: bytes) -> bool:
    """Count what opens a list or an object, outside of strings."""
    bare = _STRING.sub(b"", body.replace(b"\\\\", b"").replace(b'\\"', b""))
    return bare.count(b"[") + bare.count(b"{") > _MOST_CONTAINERS


def is_too_deep(value: JsonValue) -> bool:
    """Tell whether a value is nested deeper than the limit; walked level by level."""
    level: list[JsonValue] = [value]
    for _ in range(_DEPTH + 1):
        inner: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner:
            return False
        level = inner
    return True


def _reason(error: orjson.JSONDecodeError) -> str:
    return f"{error.msg.split(':')[0]} (line {error.lineno}, column {error.colno})"
