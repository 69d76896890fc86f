"""HTTP/1.1 without I/O: encodes the head of a request, and parses a response with llhttp."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import cast

import httptools

from signalbox.services.http.errors import InvalidRequest, ProtocolError

MAX_HEAD = 64 * 1024  # bytes of header fields, and of any other input without body bytes

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BODILESS = (204, 304)

Header = tuple[bytes, bytes]


def encode_head(method: bytes, target: bytes, headers: Iterable[Header]) -> bytes:
    """Encode the request line and the headers; raises InvalidRequest for a name or value that could inject a line.

    httpx checks neither: it leaves that to h11, which this client does not use.
    """
    lines = [b"%b %b HTTP/1.1" % (method, target)]
    for name, value in headers:
        if not _TOKEN.fullmatch(name):
            raise InvalidRequest(f"Illegal header name {name!r}")
        lines.append(b"%b: %b" % (name, value))
    head = b"\r\n".join(lines)
    breaks = len(lines) - 1
    if lines[0].count(b" ") != 2 or head.count(b"\n") != breaks or head.count(b"\r") != breaks or b"\0" in head:
        raise InvalidRequest("Illegal character in the request line or in a header value")
    return head + b"\r\n\r\n"


class ResponseParser:
    """Parses one response: its head, body bytes that were not taken yet, and its end. It does no I/O.

    `feed` and `finish` raise ProtocolError if the server violates the protocol.
    """

    __slots__ = ("_bodiless", "_dry", "_head_size", "_own_pieces", "_parser", "_to_eof", "_two_lengths", "complete",
                 "fields", "head_done", "headers", "on_body", "pending", "reason", "reusable", "status",
                 "version")  # fmt: skip

    def __init__(self, method: bytes) -> None:
        self.status = 0
        self.reason = b""
        self.version = b""
        self.headers: list[Header] = []
        self.fields: dict[bytes, bytes] = {}  # the same by lower-case name; repeated ones are joined
        self.head_done = False
        self.complete = False
        self._own_pieces = sys.maxsize  # number of body pieces that belong to this response
        self.reusable = False  # the connection may carry another request once this response is complete
        self.pending: list[bytes] = []
        # llhttp reports every HTTP chunk, and OpenRouter sends one per token: list.append needs no Python frame.
        self.on_body: Callable[[bytes], None] = self.pending.append
        self._bodiless = method == b"HEAD"
        self._to_eof = False
        self._two_lengths = False
        self._head_size = 0
        self._dry = 0
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        # h11 also accepts a bare LF, a space after a chunk size and Content-Length with chunked, and some servers send
        # them. Each connection has one user, so request smuggling is impossible.
        self._parser.set_dangerous_leniencies(
            lenient_chunked_length=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )

    def feed(self, data: bytes) -> None:
        """Parse one network read."""
        if self._parser is None:
            self.reusable = False
            return
        before = len(self.pending)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self.reusable = False
            if not self.complete:
                raise _protocol_error(error) from error
        if self.complete:
            self._settle()
        elif len(self.pending) > before:
            self._dry = 0
        else:
            self._count_dry(len(data))

    @property
    def has_begun(self) -> bool:
        """Whether any byte of the response has arrived."""
        return self.head_done or self._dry > 0

    def finish(self) -> None:
        """Handle the end of the connection, which ends a body without length; raises ProtocolError if it is early."""
        if self.complete:
            return
        if not self.head_done:
            raise ProtocolError("Server disconnected without sending a response.")
        if not self._to_eof:
            raise ProtocolError("Server disconnected before the response body was complete.")
        self.complete = True
        self._settle()

    def take_body(self) -> bytes:
        """Return the body bytes that arrived since the last call, as one object."""
        body = b"".join(self.pending)  # a single piece is not copied
        self.pending.clear()
        return body

    def _settle(self) -> None:
        """Release the parser, which breaks a reference cycle, and drop bytes that are not part of the body."""
        self._parser = None
        del self.pending[self._own_pieces :]
        if self._bodiless and self.pending:
            self.pending.clear()
            self.reusable = False

    def _count_dry(self, size: int) -> None:
        """Limit an endless head, trailer or chunk extension, which llhttp would buffer."""
        self._dry += size
        if self._dry > MAX_HEAD:
            raise ProtocolError(f"More than {MAX_HEAD} bytes of response without any body")

    # --- callbacks of llhttp ---

    def on_message_begin(self) -> None:
        """Start over after an interim response."""
        if self.complete:  # an unrequested second response: keep the first, close the connection
            self.reusable = False
            self._own_pieces = min(self._own_pieces, len(self.pending))
            return
        self.headers = []
        self.fields = {}
        self.reason = b""

    def on_status(self, reason: bytes) -> None:
        """Append to the reason phrase."""
        if not self.complete:
            self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header field; a trailer field only counts towards the limit."""
        self._head_size += len(name) + len(value) + 4
        if self._head_size > MAX_HEAD:
            raise ProtocolError(f"Response headers of more than {MAX_HEAD} bytes")
        if not self.head_done:
            self.headers.append((name, value))
            name = name.lower()
            self.fields[name] = b"%b, %b" % (self.fields[name], value) if name in self.fields else value

    def on_headers_complete(self) -> None:
        """Determine status and framing, unless the response is an interim one."""
        if self.complete:
            return
        parser = cast(httptools.HttpResponseParser, self._parser)
        self.status = parser.get_status_code()
        if self.status == 101:
            raise ProtocolError("Server switched protocols without being asked")
        if self.status < 200:  # 100 Continue, 103 Early Hints: the final response follows
            return
        self.version = b"HTTP/" + parser.get_http_version().encode()
        self._frame(parser)
        self.head_done = True

    def _frame(self, parser: httptools.HttpResponseParser) -> None:
        """Determine how the body ends if llhttp cannot know: after HEAD, in a 304, and without a length."""
        has_length = b"content-length" in self.fields
        coding = self.fields.get(b"transfer-encoding")
        if self._bodiless or self.status in _BODILESS:
            self._bodiless = self.complete = True
            self.reusable = parser.should_keep_alive()
        else:
            chunked = coding is not None and coding.lower().rstrip().endswith(b"chunked")
            self._to_eof = not chunked and (coding is not None or not has_length)
            self._two_lengths = coding is not None and has_length  # chunked wins, but the connection is not reused

    def on_message_complete(self) -> None:
        """Note the end of the final response."""
        if self.head_done and not self.complete:
            self.complete = True
            parser = cast(httptools.HttpResponseParser, self._parser)
            self.reusable = parser.should_keep_alive() and not self._two_lengths


def _protocol_error(error: Exception) -> ProtocolError:
    """Return llhttp's error, or the one that a callback raised inside it, as a ProtocolError."""
    if isinstance(error.__context__, ProtocolError):
        return error.__context__
    return ProtocolError(str(error))
