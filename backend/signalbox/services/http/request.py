"""A request that is built once and sent many times, each time with another body."""

from base64 import b64encode
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import NamedTuple

import httpx

from signalbox.services.http.errors import InvalidRequest
from signalbox.services.http.parser import encode_head

# No compression: a compressor buffers a stream.
_DEFAULTS = {"accept": "*/*", "accept-encoding": "identity", "connection": "keep-alive", "user-agent": "Signalbox"}
_PORTS = {"http": 80, "https": 443}
_BODILESS = ("GET", "HEAD")


class Origin(NamedTuple):
    """Scheme, host and port; requests to the same origin share connections."""

    scheme: str
    host: str
    port: int


class PreparedRequest:
    """Method, URL and headers of a request; credentials in the URL become basic authentication.

    `headers` override the default ones. Raises InvalidRequest for a URL that is not http or https.
    """

    def __init__(self, method: str, url: str, headers: Mapping[str, str] | None = None) -> None:
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise InvalidRequest("The URL is not valid") from error
        if parsed.scheme not in _PORTS or not parsed.host or (parsed.port or 0) > 65535:
            raise InvalidRequest("The URL is not an http or https URL")
        given = {name.lower(): value for name, value in (headers or {}).items()}
        if parsed.userinfo:
            given.setdefault("authorization", _basic(parsed))
        self.method = method
        self.url = parsed.copy_with(userinfo=b"", fragment=None)
        self.origin = Origin(parsed.scheme, parsed.raw_host.decode("ascii"), parsed.port or _PORTS[parsed.scheme])
        self.headers = {"host": parsed.netloc.decode("ascii"), **_DEFAULTS, **given}

    def with_headers(self, headers: Mapping[str, str]) -> "PreparedRequest":
        """Return this request with further headers; their names are in lower case."""
        other = copy(self)
        other.headers = {**self.headers, **headers}
        other.__dict__.pop("_head", None)  # cached
        return other

    @cached_property
    def _head(self) -> bytes:
        headers = [(name.encode("ascii", "replace"), value.encode()) for name, value in self.headers.items()]
        return encode_head(self.method.encode(), self.url.raw_path, headers)[:-2]

    def encode(self, body: bytes) -> bytes:
        """Return the bytes to send; raises InvalidRequest for a header that would break out of its line."""
        if self.method in _BODILESS:
            return self._head + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (self._head, len(body), body)


def _basic(url: httpx.URL) -> str:
    return "Basic " + b64encode(f"{url.username}:{url.password}".encode()).decode()
