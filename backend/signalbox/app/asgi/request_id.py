"""The id of a request: the client's or a new one, sent back and part of each log line about the request."""

import re
from collections.abc import Sequence
from os import urandom

from starlette.types import Scope

from signalbox.encoders.encoder import ErrorOf
from signalbox.encoders.v1_error import error_of

HEADER = b"x-request-id"
# Covers the ids that proxies send: UUIDs, W3C and AWS trace ids, base64. Excludes control sequences of log viewers.
_VALID = re.compile(rb"[A-Za-z0-9._:=+/@-]{1,128}")
_KEY = "signalbox.request"


class RequestInfo:
    """Facts about a request for logs and errors. `code` is set if it is rejected; `is_logged` prevents a second line.

    `error_of` encodes errors in the format of the request's protocol. `refused` are the status and the code of each run
    that was refused although the response has another status: a request may start several.
    """

    __slots__ = ("code", "error_of", "id", "is_logged", "refused")

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.code: str | None = None
        self.is_logged = False
        self.error_of: ErrorOf = error_of
        self.refused: Sequence[tuple[int, str]] = ()


def register_request(scope: Scope) -> RequestInfo:
    """Attach the info to a request; its id is the client's, or a new one if that is missing or invalid."""
    given = b""
    for name, value in scope["headers"]:
        if name == HEADER:
            given = value
            break
    info = scope[_KEY] = RequestInfo(given.decode() if _VALID.fullmatch(given) else urandom(16).hex())
    return info


def info_of(scope: Scope) -> RequestInfo:
    """Return the info of a request; it is empty without the outermost middleware (tests of a single route)."""
    return scope.get(_KEY) or RequestInfo("")
