"""Fetches web pages: checks the address of every request and redirect, and limits size and time (quirk G1)."""

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote, urljoin, urlsplit

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import WebPage
from signalbox.services.addresses import Address, Allowance, ascii_host
from signalbox.services.charsets import decoded
from signalbox.services.http.connect import connect
from signalbox.services.http.connection import Connection
from signalbox.services.http.errors import ConnectFailed, ConnectTimeout, HttpError
from signalbox.services.http.parser import ResponseParser, encode_head
from signalbox.services.http.request import Origin

LONGEST_URL = 2_000
LARGEST_BODY = 2 * 1024 * 1024
MOST_REDIRECTS = 5
_MOST_ADDRESSES = 4
_CONNECT_SECONDS = 4.0

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WEB_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = frozenset({"application/json", "application/xml", "application/yaml", "application/x-ndjson"})
_HEADERS = (
    (b"accept-language", b"en, *;q=0.5"),
    # Compression is not requested, because of decompression bombs; a body that is compressed anyway is limited.
    (b"accept-encoding", b"identity"),
    (b"connection", b"close"),
)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the resolver's order; raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed URL; the same value is checked and requested."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """The URL that is requested."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = {"https": 443, "http": 80}[self.scheme]
        return host if self.port == usual else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is requested: the Accept header, the user agent, and the content types whose body is read."""

    agent: bytes
    accept: bytes
    is_readable: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. `body` is empty unless it is a success of a wanted type; `cut`: it was longer than LARGEST_BODY."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool


class PageFetcher:
    """A PageFetcher over the public internet. Each request has a new connection to a checked address.

    The shared upstream client is not used: its pool identifies connections by host name, and it uses the environment's
    proxies, which resolve names themselves. Requests send no cookies and no credentials. `allow` adds hosts and
    networks; only these may be fetched by plain http and on any port. An address that cannot be checked is not fetched.
    """

    def __init__(
        self,
        allow: Allowance | None = None,
        *,
        resolve: Resolve = look_up,
        tls: ssl.SSLContext | None = None,
        seconds: float = 12.0,
    ) -> None:
        self._allow = allow or Allowance()
        self._resolve = resolve
        self._tls = tls
        self._seconds = seconds

    async def fetch(self, url: str) -> WebPage:
        """Return the page at an address, after at most five redirects; raises ToolError."""
        try:
            async with asyncio.timeout(self._seconds):
                return _page(*await self._follow(self.target(url), _PAGES))
        except TimeoutError:
            raise ToolError(Code.TIMEOUT, f"The page did not load within {self._seconds:g} s.") from None

    async def load(self, url: str, wanted: Wanted) -> Reply:
        """Return the response at an address, under the rules of `fetch`; raises ToolError or TimeoutError."""
        async with asyncio.timeout(self._seconds):
            _, reply = await self._follow(self.target(url), wanted)
            return reply

    async def _follow(self, target: Target, wanted: Wanted) -> tuple[Target, Reply]:
        for _ in range(MOST_REDIRECTS + 1):
            reply = await self._get(target, wanted)
            if reply.status not in _REDIRECTS:
                return target, reply
            target = self.target(urljoin(target.url, reply.headers.get("location", "")))
        raise ToolError(Code.TOOL_FAILED, f"The page redirects more than {MOST_REDIRECTS} times.")

    # --- target and address ---

    def target(self, url: str) -> Target:
        """Parse a URL; raises ToolError if it may not be fetched, whatever its host resolves to.

        http becomes https unless the operator allows the host.
        """
        text = url.strip()
        if not text or len(text) > LONGEST_URL or re.search(r"[\x00-\x20\x7f\\]", text):
            raise _invalid("it must be one web address without spaces")
        try:
            parts = urlsplit(text)
            host, port = ascii_host(parts.hostname or ""), parts.port
        except ValueError:
            raise _invalid("it is not a web address") from None
        if parts.scheme not in ("https", "http"):
            raise _invalid("only https:// addresses can be read")
        if "@" in parts.netloc:
            raise _invalid("it must not contain a user name or a password")
        if host is None:
            raise _invalid("its host is neither a name nor a plain IP address")
        path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~") + _query(parts.query)
        return self._ported(parts.scheme, host, port, path)

    def _ported(self, scheme: str, host: str, port: int | None, path: str) -> Target:
        usual = {"https": 443, "http": 80}[scheme]
        if self._allow.names(host):
            return Target(scheme, host, port or usual, path)
        if port not in (None, usual):
            raise _invalid("only the standard https port is allowed")
        return Target("https", host, 443, path)

    async def _addresses(self, target: Target) -> list[Address]:
        """Resolve a host once and check all its addresses; raises ToolError if one of them may not be fetched."""
        try:
            found = [ip_address(one) for one in await self._resolve(target.host, target.port)]
        except OSError:
            raise ToolError(Code.TOOL_FAILED, f"There is no host {target.host}.") from None
        except ValueError:  # an address with a zone (fe80::1%eth0), or not an address
            found = []
        if not found or not all(self._allow.permits(target.host, address) for address in found):
            words = f"{target.host} is not on the public internet; only public pages can be read."
            raise ToolError(Code.TOOL_FAILED, words)
        return found[:_MOST_ADDRESSES]

    # --- request ---

    async def _get(self, target: Target, wanted: Wanted) -> Reply:
        """Send the request to the first address that accepts a connection."""
        failure: Exception | None = None
        for address in await self._addresses(target):
            try:
                return await self._request(target, address, wanted)
            except (ConnectFailed, ConnectTimeout) as error:
                failure = error
            except HttpError:
                raise ToolError(
                    Code.TOOL_FAILED, f"{target.host} closed the connection before the page was complete."
                ) from None
        if failure is not None and isinstance(failure.__cause__, ssl.SSLError):
            raise ToolError(Code.TOOL_FAILED, f"The TLS certificate of {target.host} is not valid.")
        raise ToolError(Code.TOOL_FAILED, f"{target.host} cannot be reached.")

    async def _request(self, target: Target, address: Address, wanted: Wanted) -> Reply:
        """Send one request to exactly this address. TLS verifies the host name, which is not resolved again."""
        connection = await connect(
            Origin(target.scheme, str(address), target.port),
            time_limit=_CONNECT_SECONDS,
            tls=self._tls,
            server_hostname=target.host,
        )
        host = (b"host", target.authority.encode("ascii"))
        headers = (host, (b"user-agent", wanted.agent), (b"accept", wanted.accept), *_HEADERS)
        try:
            message = encode_head(b"GET", target.path.encode("ascii"), headers)
            return await _read_reply(await connection.exchange("GET", message, self._seconds), connection, wanted)
        finally:
            connection.abort()


def _invalid(why: str) -> ToolError:
    return ToolError(Code.INVALID_ARGUMENTS, f"url: this address cannot be read: {why}")


def _query(query: str) -> str:
    return "?" + quote(query, safe="/%:@!$&'()*+,;=~?") if query else ""


async def _read_reply(response: ResponseParser, connection: Connection, wanted: Wanted) -> Reply:
    """Read a response; the body only of a successful response of a wanted type, up to LARGEST_BODY."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    body = bytearray()
    cut = False
    if response.status == 200 and wanted.is_readable(_kind(headers)):
        while not cut and (data := await connection.read()):
            body += data
            cut = len(body) > LARGEST_BODY
    return Reply(response.status, headers, bytes(body[:LARGEST_BODY]), cut)


# --- response ---


def _kind(headers: dict[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _is_readable(kind: str) -> bool:
    return (
        not kind or kind in _WEB_PAGES or kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml"))
    )


_PAGES = Wanted(
    b"Signalbox (read_url)",
    b"text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.1",
    _is_readable,
)


def _page(target: Target, reply: Reply) -> WebPage:
    kind = _kind(reply.headers)
    if reply.status != 200:
        raise _refusal(target, reply.status)
    if not _is_readable(kind):
        what = "a PDF" if kind == "application/pdf" else f"of the type {_shown_kind(kind)}"
        raise ToolError(Code.TOOL_FAILED, f"This is {what}; only web pages and text can be read.")
    body, cut = _unpacked(reply)
    if b"\0" in body[:1024] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ToolError(Code.TOOL_FAILED, "This is not text; only web pages and text can be read.")
    is_html = kind in _WEB_PAGES or (not kind and body.lstrip()[:1] == b"<")
    text = decoded(body, reply.headers.get("content-type", ""), is_html=is_html)
    return WebPage(target.url, "text/html" if is_html else kind or "text/plain", text, cut)


def _shown_kind(kind: str) -> str:
    """Return a valid media type for a message; any other text could contain instructions for the model (quirk G3)."""
    return kind if re.fullmatch(r"[a-z]{1,20}/[a-z0-9.+-]{1,40}", kind) else "another kind"


def _refusal(target: Target, status: int) -> ToolError:
    match status:
        case 404 | 410:
            return ToolError(Code.TOOL_FAILED, "There is no page at this address.")
        case 401 | 403 | 451:
            return ToolError(Code.TOOL_FAILED, f"{target.host} does not allow reading this page (status {status}).")
        case 429:
            return ToolError(Code.RATE_LIMIT, f"{target.host} received too many requests; read another page.")
        case _:
            return ToolError(Code.TOOL_FAILED, f"{target.host} answered with status {status} instead of a page.")


def _unpacked(reply: Reply) -> tuple[bytes, bool]:
    """Decompress gzip or deflate up to LARGEST_BODY; raises ToolError for other encodings and damaged bodies."""
    coding = reply.headers.get("content-encoding", "").strip().lower()
    if coding in ("", "identity"):
        return reply.body, reply.cut
    body = _inflated(reply.body) if coding in ("gzip", "x-gzip", "deflate") else None
    if body is None:
        raise ToolError(Code.TOOL_FAILED, "The page is compressed in a way that cannot be read.")
    return body[:LARGEST_BODY], reply.cut or len(body) > LARGEST_BODY


def _inflated(body: bytes) -> bytes | None:
    """Return at most LARGEST_BODY + 1 bytes, which bounds a decompression bomb; None for damaged data."""
    try:
        # 32 accepts the headers of both gzip and zlib.
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress(body, LARGEST_BODY + 1)
    except zlib.error:
        return None
