"""The body of a request: read within a limit, parsed strictly as JSON, validated."""

from typing import TypeVar

import orjson
from fastapi import Request
from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from signalbox.app.asgi.raw_headers import headers_of
from signalbox.core.bounds.in_flight import IN_FLIGHT, UNCOUNTED, Share
from signalbox.core.bounds.json_depth import MAX_LEVELS, is_too_deep
from signalbox.core.bounds.offload_thresholds import SLICE
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.intakes.validation import validated
from signalbox.offload import offloaded

# Parsing millions of lists, objects and values would hold the interpreter lock for seconds.
_MOST_CONTAINERS = 200_000
_MOST_VALUES = 300_000

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, limit: int) -> bytes:
    """Read a body of at most `limit` bytes, counted while it arrives; raises RequestError."""
    announced = headers_of(request.scope).get(b"content-length", b"0")
    if len(announced) > len(str(limit)) or int(announced) > limit:
        raise _too_large(limit)
    with IN_FLIGHT.share() as share:
        return await _whole(request, limit, share)


def object_in(body: bytes) -> JsonObject:
    """Parse a body that must be an object; raises RequestError."""
    value = json_in(body)
    if not isinstance(value, dict):
        raise RequestError(Code.INVALID_REQUEST, "The request body must be a JSON object.", "body")
    return value


def json_in(body: bytes) -> JsonValue:
    """Parse a body strictly; raises RequestError."""
    containers = _count(body, b"[{")  # an upper bound: it includes brackets in strings
    if containers > _MOST_CONTAINERS or containers + _count(body, b",") > _MOST_VALUES:
        _check_counts(body)
    try:
        # orjson itself rejects NaN, invalid UTF-8 and more than 1,024 levels.
        value: JsonValue = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RequestError(
            Code.INVALID_JSON, f"The request body is not valid JSON: {_reason(error)}.", "body"
        ) from None
    if containers > MAX_LEVELS and is_too_deep(value):
        raise RequestError(Code.INVALID_REQUEST, f"The request body is nested deeper than {MAX_LEVELS} levels.", "body")
    return value


async def _whole(request: Request, limit: int, share: Share) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:  # request.stream is an async generator, which would double the cost of reading and parsing
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        if size > UNCOUNTED and not share.hold(size):
            raise RequestError(Code.TOO_MUCH_AT_ONCE, retry_after=1.0)
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)


def _too_large(limit: int) -> RequestError:
    return RequestError(Code.BODY_TOO_LARGE, f"The request body is larger than {limit / 1024 / 1024:g} MB.", "body")


async def read_model(request: Request, model: type[Model], limit: int) -> Model:
    """Read and validate a body; raises RequestError that names the invalid field."""
    body = await read_body(request, limit)
    return await offloaded(lambda: validated(json_in(body), model), size=len(body))


def _check_counts(body: bytes) -> None:
    """Count lists, objects and values outside of strings, slice by slice; raises RequestError above a limit."""
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    containers = values = quotes = 0
    for at in range(0, len(bare), SLICE):
        pieces = bare[at : at + SLICE].split(b'"')
        outside = b"".join(pieces[quotes % 2 :: 2])
        quotes += len(pieces) - 1
        containers += _count(outside, b"[{")
        values += _count(outside, b",")
    for number, most, what in (
        (containers, _MOST_CONTAINERS, "lists and objects"),
        (containers + values, _MOST_VALUES, "values"),
    ):
        if number > most:
            raise RequestError(Code.INVALID_REQUEST, f"The request body has more than {most:,} {what}.", "body")


def _count(body: bytes, marks: bytes) -> int:
    return sum(map(body.count, marks))


def _reason(error: orjson.JSONDecodeError) -> str:
    return f"{error.msg.split(':')[0]} (line {error.lineno}, column {error.colno})"
