"""Access control (Host, Origin and Sec-Fetch-Site, token), and the headers that every response has."""

import re
from collections.abc import Awaitable, Callable, Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from signalbox.app.access import ANONYMOUS, CALLER, Caller
from signalbox.app.asgi.content_policy import policy_of
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.request_id import HEADER, register_request
from signalbox.app.asgi.root_path import path_in_app
from signalbox.app.asgi.static_files import PublicPaths
from signalbox.app.asgi.streaming import BODY_SEND
from signalbox.app.errors import error_response
from signalbox.app.logs.rejected_requests import RejectionLog
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, StoreError
from signalbox.encoders.encoder import ErrorOf

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
# RFC 9110: the scheme is case-insensitive; spaces and tabs may separate it from the token.
_SCHEME = re.compile(r"\s*bearer(?:\s+|$)", re.IGNORECASE)
# A host without user information: what follows "@" would be another host in an address that is made from it.
_HOST = re.compile(r"(?:\[(?P<v6>[^\]@/]*)\]|(?P<name>[^:@/\[\]]*))(?::\d*)?")
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address to listen on."""
    if host in _LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class ResponseHeaders:
    """The outermost middleware, pure ASGI: adds the request's id and the security headers to every response.

    It and the middlewares inside it handle only heads: streams send bodies through `BODY_SEND`, its own `send`. It also
    logs rejected requests. `format_of` returns the format of errors at a path. `policy` is the content security policy.
    """

    def __init__(
        self, app: ASGIApp, rejections: RejectionLog, format_of: Callable[[str], ErrorOf], policy: bytes
    ) -> None:
        self._app = app
        self._policy = policy
        self._rejections = rejections
        self._format_of = format_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, and add headers to its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        info = register_request(scope)
        info.error_of = self._format_of(path_in_app(scope))
        request_id = (HEADER, info.id.encode())
        scope[BODY_SEND] = send

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS, policy_of(scope, self._policy), request_id]
                if message["status"] >= 400:
                    self._rejections.add(scope, message["status"], info.code)
                for status, code in info.refused:
                    self._rejections.add(scope, status, code)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            del scope[BODY_SEND]  # breaks a reference cycle: `send` belongs to uvicorn's request, which has the scope


class AccessControl:
    """A pure ASGI middleware that checks requests: Host, Origin and token.

    `caller_of` returns the caller of a request with a token, or raises RequestError. It is not called for `public`
    paths. Tokens for which `counts` is false are ignored.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str],
        origins: Collection[str],
        caller_of: Callable[[str, Scope], Awaitable[Caller]],
        counts: Callable[[str], bool],
        public: PublicPaths,
    ) -> None:
        self._app = app
        self._hosts = _LOOPBACK_NAMES | {host.lower() for host in hosts}
        self._origins = frozenset(origins)
        self._caller_of = caller_of
        self._counts = counts
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or reject it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = headers_of(scope)
        try:
            self._check(scope, headers)
            has_token = b"authorization" in headers or b"x-api-key" in headers
            given = token_in(Headers(scope=scope), self._counts) if has_token else ""
            caller = ANONYMOUS if self._public.covers(scope) else await self._caller_of(given, scope)
        except RequestError as error:
            await error_response(error, scope)(scope, receive, send)
            return
        except StoreError as error:
            await error_response(RequestError(error.code), scope)(scope, receive, send)
            return
        scope[CALLER] = caller
        await self._app(scope, receive, send)

    def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        host = _hostname(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts and "*" not in self._hosts:
            raise RequestError(Code.HOST_NOT_ALLOWED, f"The host {host[:100]!r} is not allowed here.", "Host")
        if scope["method"] not in _READING and not self._is_own_page(headers):
            raise RequestError(Code.ORIGIN_NOT_ALLOWED, field="Origin")

    def _is_own_page(self, headers: dict[bytes, bytes]) -> bool:
        """Return whether a request comes from our page, from an allowed origin, or from a program."""
        if b"origin" in headers:
            origin = headers[b"origin"].decode("latin-1")
            if origin in self._origins:
                return True
            if _netloc(origin) != headers.get(b"host", b"").decode("latin-1").lower():
                return False
        return headers.get(b"sec-fetch-site", b"none") in (b"same-origin", b"none")


def token_in(headers: Headers, counts: Callable[[str], bool]) -> str:
    """Return the token of a request: in Authorization, or in `x-api-key` as clients of other APIs send it.

    With a scheme other than Bearer, the token is the whole header. Tokens that do not count are ignored. Raises
    RequestError.
    """
    given = headers.getlist("authorization")
    if len(given) > 1:
        raise RequestError(Code.INVALID_REQUEST, "Authorization may appear only once.", "Authorization")
    tokens = {_SCHEME.sub("", one, count=1).strip() for one in given}
    tokens.update(key.strip() for key in headers.getlist("x-api-key"))
    tokens = {one for one in tokens if one and counts(one)}
    if len(tokens) > 1:
        raise RequestError(Code.TOKENS_DIFFER, field="x-api-key")
    return tokens.pop() if tokens else ""


def _netloc(origin: str) -> str:
    """Return host and port of an origin; empty if it is not a URL."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _hostname(host: str) -> str:
    """Return a Host header without the port; empty if anything but a port follows the name."""
    found = _HOST.fullmatch(host)
    return (found["v6"] or found["name"] or "").lower() if found else ""
