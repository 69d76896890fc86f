"""A request by its id: taken from the client or made, sent back, and written into each log line about it."""

import re
from os import urandom

from starlette.types import Scope

from signalbox.encoders.encoder import ErrorOf
from signalbox.encoders.v1_error import error_of

HEADER = b"x-request-id"
# UUIDs, W3C and AWS trace ids, base64: what proxies send; nothing that a log viewer might read as its own.
_SANE = re.compile(rb"[A-Za-z0-9._:=+/@-]{1,128}")
_KEY = "signalbox.request"


class RequestInfo:
    """What is known of a request. `code` is that of its rejection, `is_logged` prevents a second log line about it.

    `error_of` writes errors in the shape of the request's protocol.
    """

    __slots__ = ("code", "error_of", "id", "is_logged")

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.code: str | None = None
        self.is_logged = False
        self.error_of: ErrorOf = error_of


def note_request(scope: Scope) -> RequestInfo:
    """Remember a request under the id that it came with, or a new one where that is missing or odd."""
    given = b""
    for name, value in scope["headers"]:
        if name == HEADER:
            given = value
            break
    info = scope[_KEY] = RequestInfo(given.decode() if _SANE.fullmatch(given) else urandom(16).hex())
    return info


def info_of(scope: Scope) -> RequestInfo:
    """Return what is known of a request; an app without its outermost middleware (tests of a route) knows nothing."""
    return scope.get(_KEY) or RequestInfo("")
