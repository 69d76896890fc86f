"""Who may ask: Host allow-list, Origin and Sec-Fetch-Site on what spends or changes, the access token."""

import hmac
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from signalbox.app.errors import error_response
from signalbox.app.files import wants_page
from signalbox.core.errors import Code, RequestError

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# The page has no inline script or style; its answers may hold anything a model writes (quirk G2).
_POLICY = (
    b"default-src 'self'; img-src 'self' data:; object-src 'none'; "
    b"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is this machine alone."""
    if host in _LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """A pure ASGI middleware; the path of a streamed event passes one function call of it.

    One of `tokens`, where there are any, is asked of every request whose path begins with one of `closed`.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        tokens: Collection[str] = (),
        closed: tuple[str, ...] = ("/api/",),
    ) -> None:
        self._app = app
        self._hosts = _LOOPBACK_NAMES | {host.lower() for host in hosts}
        self._origins = frozenset(origins)
        self._tokens = [token.encode() for token in tokens]
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it with what is wrong."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await error_response(refusal)(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        await self._app(scope, receive, guarded)

    def _refuse(self, scope: Scope, headers: Headers) -> RequestError | None:
        host = _hostname(headers.get("host", ""))
        if host not in self._hosts and "*" not in self._hosts:
            return RequestError(Code.HOST_NOT_ALLOWED, f"The host {host[:100]!r} is not allowed here.", "Host")
        if scope["method"] not in _READING and not self._is_own_page(headers):
            return RequestError(Code.ORIGIN_NOT_ALLOWED, field="Origin")
        if self._tokens and self._is_closed(scope) and not self._has_token(headers):
            return RequestError(Code.UNAUTHORIZED, field="Authorization")
        return None

    def _is_closed(self, scope: Scope) -> bool:
        """Whether a path needs the token; a browser that opens a document gets the page, which then asks for it."""
        path: str = scope["path"]
        return path.startswith(self._closed) and (path.startswith("/api/") or not wants_page(scope))

    def _is_own_page(self, headers: Headers) -> bool:
        """Whether a request comes from our own page, an allowed one, or from no page at all (a program)."""
        origin = headers.get("origin")
        if origin in self._origins:
            return True
        if origin is not None and _netloc(origin) != headers.get("host", "").lower():
            return False
        return headers.get("sec-fetch-site", "none") in ("same-origin", "none")

    def _has_token(self, headers: Headers) -> bool:
        given = headers.get("authorization", "").removeprefix("Bearer ").strip()
        return any(hmac.compare_digest(given.encode(), token) for token in self._tokens)


def _netloc(origin: str) -> str:
    """Take host and port out of an origin; an origin that is no URL has none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _hostname(host: str) -> str:
    """Take the port off a Host header."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
