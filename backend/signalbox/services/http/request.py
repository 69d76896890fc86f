"""A request that goes out time and again with another body: what never changes of it is made once."""

from functools import cached_property

import httpcore
import httpx

from signalbox.services.http.parser import encode_head


class Form:
    """What all posts to one address have in common, read from a request without a body."""

    def __init__(self, request: httpx.Request) -> None:
        request.headers.pop("content-length", None)
        url = request.url
        self.request = request
        self.method = request.method.encode("ascii")
        self.url = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        self.origin = self.url.origin
        self.headers = request.headers.raw
        self.extensions = request.extensions

    @cached_property
    def head(self) -> bytes:
        """The head up to the body's length; raises httpcore.LocalProtocolError for what would break out of its line."""
        return encode_head(self.method, self.url.target, self.headers)[:-2] + b"Content-Length: "

    def filled(self, body: bytes) -> httpx.Request:
        """Return the request with a body, as any transport takes it."""
        headers = [*self.headers, (b"Content-Length", b"%d" % len(body))]
        own = self.request
        return httpx.Request(own.method, own.url, headers=headers, content=body, extensions=own.extensions)


class Post(httpcore.Request):
    """A form with its body.

    httpx's and httpcore's constructors would look at each header anew: 8% of a short stream's steps in Python.
    `headers` and `stream` are built only where something other than our connection asks for them.
    """

    def __init__(self, form: Form, body: bytes) -> None:
        self.message = b"%b%d\r\n\r\n%b" % (form.head, len(body), body)
        self.method = form.method
        self.url = form.url
        self.origin = form.origin
        self.extensions = form.extensions
        self._form = form
        self._body = body

    @cached_property
    def headers(self) -> list[tuple[bytes, bytes]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All headers."""
        return [*self._form.headers, (b"Content-Length", b"%d" % len(self._body))]

    @cached_property
    def stream(self) -> httpx.ByteStream:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The body."""
        return httpx.ByteStream(self._body)
