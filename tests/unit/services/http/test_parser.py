"""The response parser without a socket."""

from signalbox.services.http.parser import ResponseParser


def test_a_response_may_be_cut_anywhere() -> None:
    """The parser returns the same response for every split point and for single bytes."""
    raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    raw += b"2\r\nok\r\n3;x=y\r\nand\r\n0\r\nx-t: 1\r\n\r\n"
    cuts = [[raw[:at], raw[at:]] for at in range(1, len(raw))] + [[bytes([byte]) for byte in raw]]
    for pieces in cuts:
        parser = ResponseParser(b"GET")
        for piece in pieces:
            parser.feed(piece)
        assert (parser.status, parser.reason, parser.take_body()) == (200, b"OK", b"okand")
        assert parser.headers == [(b"transfer-encoding", b"chunked")]
        assert parser.complete
        assert parser.reusable


def test_a_long_stream_in_small_reads_is_not_cut_off() -> None:
    """The limit on bytes without body is reset by each body byte, so chunk sizes never reach it."""
    parser = ResponseParser(b"GET")
    parser.feed(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(30_000):
        parser.feed(b"2\r\n")
        parser.feed(b"ok\r\n")
    assert parser.take_body() == b"ok" * 30_000


def test_a_response_has_begun_with_its_first_byte() -> None:
    """An interim response counts as a beginning, too."""
    raw = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    for at in range(1, len(raw) + 1):
        parser = ResponseParser(b"GET")
        assert not parser.has_begun
        parser.feed(raw[:at])
        assert parser.has_begun
        parser.feed(raw[at:])
        assert parser.has_begun
