"""What an OpenID Connect provider publishes about itself: its endpoints and its keys, each kept for an hour."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, cast
from urllib.parse import urlsplit

import structlog

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, UpstreamError
from signalbox.services.http.client import HttpClient
from signalbox.services.http.errors import HttpError
from signalbox.services.http.request import PreparedRequest
from signalbox.services.http.response import decoded
from signalbox.services.http.response_reader import read_all
from signalbox.wire.json_text import loads

DISCOVERY_PATH = "/.well-known/openid-configuration"
_KEPT_SECONDS = 3600.0
_TIMEOUT_SECONDS = 10.0
_LARGEST_ANSWER = 1024 * 1024
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Reply:
    """The status and the JSON object of a response; an empty object for any other body."""

    status: int
    value: dict[str, Any]


async def exchange(http: HttpClient, request: PreparedRequest, body: bytes = b"") -> Reply:
    """Send a request to the provider; raises RequestError SIGN_IN_UNAVAILABLE if it does not answer."""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            answer = await http.send(request, body)
            try:
                text = await read_all(decoded(answer), _LARGEST_ANSWER)
            finally:
                await answer.aclose()
    except (HttpError, UpstreamError, TimeoutError) as error:
        raise unavailable("does not answer", type(error).__name__) from None
    try:
        value = loads(text)
    except ValueError:
        value = None
    return Reply(answer.status, cast(dict[str, Any], value) if isinstance(value, dict) else {})


def unavailable(what: str, reason: str) -> RequestError:
    """Log what the provider did, and return the error for the person who signs in."""
    _log.warning("sign_in.provider_failed", what=what, reason=reason)
    return RequestError(Code.SIGN_IN_UNAVAILABLE, f"The sign-in service {what}. Try again in a moment.")


class Metadata:
    """The endpoints and keys of one issuer."""

    def __init__(self, issuer: str, http: HttpClient, ticks: Callable[[], float] = monotonic) -> None:
        self._issuer = issuer
        self._http = http
        self._ticks = ticks
        self._endpoints: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, dict[str, Any]] | None = None

    async def endpoints(self) -> dict[str, Any]:
        """Return the discovery document; raises RequestError SIGN_IN_UNAVAILABLE."""
        if self._endpoints is None or self._is_old(self._endpoints[0]):
            found = await self._get(self._issuer.rstrip("/") + DISCOVERY_PATH)
            self._check(found)
            self._endpoints = self._ticks(), found
        return self._endpoints[1]

    async def keys(self, *, fresh: bool = False) -> dict[str, Any]:
        """Return the JSON Web Key Set; `fresh` loads it again, because the provider may have new keys."""
        if fresh or self._keys is None or self._is_old(self._keys[0]):
            found = await self._get(str((await self.endpoints())["jwks_uri"]))
            if not isinstance(found.get("keys"), list):
                raise unavailable("sent keys that cannot be read", "no list of keys")
            self._keys = self._ticks(), found
        return self._keys[1]

    def _is_old(self, at: float) -> bool:
        return self._ticks() - at >= _KEPT_SECONDS

    async def _get(self, url: str) -> dict[str, Any]:
        reply = await exchange(self._http, PreparedRequest("GET", url, {"accept": "application/json"}))
        if reply.status != 200 or not reply.value:
            raise unavailable("does not answer as expected", f"{urlsplit(url).path}: status {reply.status}")
        return reply.value

    def _check(self, found: dict[str, Any]) -> None:
        """Raise RequestError if the document belongs to another issuer, or has no usable endpoints."""
        if str(found.get("issuer", "")).rstrip("/") != self._issuer.rstrip("/"):
            raise unavailable("is set up for another address", "the discovery document names another issuer")
        scheme = urlsplit(self._issuer).scheme
        is_usable = partial(_is_usable, secure=scheme == "https")
        if wrong := [name for name in _ENDPOINTS if not is_usable(found.get(name))]:
            raise unavailable("has no usable addresses", f"{', '.join(wrong)} missing or not {scheme}")


def _is_usable(url: object, *, secure: bool) -> bool:
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and parts.scheme in (("https",) if secure else ("http", "https"))
