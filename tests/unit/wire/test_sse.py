"""The SSE decoder follows the standard, except where all providers differ; any split gives the same frames."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.wire import sse
from signalbox.wire.sse import Frame, SseDecoder


def frames(*reads: bytes) -> list[Frame]:
    """Decode these reads and the end of the stream."""
    decoder = SseDecoder()
    found = [frame for read in reads for frame in decoder.feed(read)]
    return found + decoder.close()


def data(*reads: bytes) -> list[bytes]:
    """Return the data of each frame."""
    return [frame.data for frame in frames(*reads)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])
def test_each_line_ending(end: bytes) -> None:
    """Lines end in LF, CR or CRLF."""
    body = end.join([b"data: one", b"data: two", b"", b"data: three", b"", b""])
    assert data(body) == [b"one\ntwo", b"three"]


def test_mixed_line_endings() -> None:
    """One stream may use all three, also for the blank line."""
    assert data(b"data: a\r\n\ndata: b\r\rdata: c\n\r\ndata: d\r\n\r\n") == [b"a", b"b", b"c", b"d"]


def test_a_crlf_cut_between_reads_is_one_ending() -> None:
    """A CR at the end of one read and the LF at the start of the next do not make a blank line."""
    assert data(b"data: a\r", b"\ndata: b\r\n\r", b"\n") == [b"a\nb"]


def test_a_cr_alone_dispatches_at_once() -> None:
    """A CR ends the line; the decoder does not wait for an LF."""
    assert SseDecoder().feed(b"data: a\r\r") == [Frame(b"a")]


def test_an_empty_read_between_cr_and_lf_changes_nothing() -> None:
    """Empty reads change nothing, also between others."""
    assert data(b"data: a\r", b"", b"\ndata: b\n\n") == [b"a\nb"]


def test_a_bom_is_dropped_at_the_start_only() -> None:
    """One byte order mark at the very start is no part of the field name; later it is."""
    assert data(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [b"a"]
    assert data(b"\xef", b"\xbb", b"\xbfdata: a\n\n") == [b"a"]


def test_comments_are_ignored() -> None:
    """Comments, also between the lines of one event, and alone before a blank line, make no frame (quirk E4)."""
    assert data(b": OPENROUTER PROCESSING\n\ndata: a\n: ping\ndata: b\n\n:\n\n") == [b"a\nb"]


def test_one_space_after_the_colon_is_removed() -> None:
    """One leading space is not part of the value; a tab is."""
    assert data(b"data:a\n\ndata:  b\n\ndata:\tc\n\n") == [b"a", b" b", b"\tc"]


def test_data_without_a_value() -> None:
    """`data` alone and `data:` are empty lines of data."""
    assert data(b"data\n\ndata:\n\ndata\ndata\n\n") == [b"", b"", b"\n"]


def test_other_fields_are_ignored() -> None:
    """Unknown fields, `retry`, and names that only begin with `data` are ignored."""
    assert data(b"retry: 10\nfoo: bar\ndatas: no\nDATA: no\n data: no\ndata: yes\n\n") == [b"yes"]


def test_event_names_one_frame_only() -> None:
    """An event line names its frame only; of several, the last counts."""
    found = frames(b"event: a\nevent: error\ndata: 1\n\ndata: 2\n\nevent: lost\n\ndata: 3\n\n")
    assert found == [Frame(b"1", None, "error"), Frame(b"2"), Frame(b"3")]


def test_an_id_applies_until_the_next() -> None:
    """The last id applies to later frames; one with NUL in it is ignored; an empty one is an id."""
    found = frames(b"id: 1\ndata: a\n\ndata: b\n\nid: x\0y\ndata: c\n\nid\ndata: d\n\n")
    assert [frame.id for frame in found] == ["1", "1", "1", ""]


def test_an_unterminated_last_event_counts() -> None:
    """A stream that ends without its blank line, or within its last line, loses nothing (no-trailing-blank-line)."""
    assert data(b"data: a\n\ndata: b\n") == [b"a", b"b"]
    assert data(b"data: a\n\ndata: b") == [b"a", b"b"]
    assert data(b"data: a\r") == [b"a"]


def test_an_empty_stream() -> None:
    """An empty stream, and one of blank lines, has no frames."""
    assert data() == data(b"") == data(b"\n\n\r\n\r") == []


def test_line_separators_of_other_standards_stay_in_json() -> None:
    """U+2028, U+2029, U+0085, VT and FF are characters of a JSON string, not line ends (quirk E5)."""
    text = '{"a":"\u2028\u2029\u0085\x0b\x0c\x1c"}'.encode()
    assert data(b"data: " + text + b"\n\n") == [text]


STREAMS = [
    b": OPENROUTER PROCESSING\n\ndata: a\n\ndata: \n\ndata: b\n\n",
    b"data: a\nid: 1\n\ndata: b\n\n\n: \n\ndata: c\n\nevent\n\ndata: d\ndata: e\n\n",
    b'\xef\xbb\xbfdata: {"a":"\xf0\x9f\x9a\xa6 gr\xc3\xbc\xc3\x9fe"}\n\ndata: [DONE]\n\n',
    b": c\r\n\r\nid: 7\r\nevent: x\r\ndata: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
    b"data: a\r\rdata: b\r\n\r\ndata: c\n\r\ndata: d\n\n\r\r\n",
    b"data\n\ndata:\n\nid: 1\0\nid\ndata: \xe2\x80\xa8\xc2\x85\n\nretry: 1\n\ndata: tail",
]


@pytest.mark.parametrize("stream", STREAMS)
def test_every_split_gives_the_same_frames(stream: bytes) -> None:
    """Cut in two at every place, and one byte at a time, a stream has the same frames (quirk E6)."""
    whole = frames(stream)
    assert whole
    assert frames(*(bytes([byte]) for byte in stream)) == whole
    for at in range(len(stream) + 1):
        assert frames(stream[:at], stream[at:]) == whole


PIECES = st.lists(
    st.sampled_from(
        [b"data", b":", b" ", b"\r", b"\n", b"\r\n", b"id", b"event", b"x", b"\0", b"\xef\xbb\xbf", b"\xc2"]
    ),
    max_size=40,
).map(b"".join)


@given(stream=PIECES, cuts=st.lists(st.integers(0, 80), max_size=6))
def test_any_bytes_in_any_pieces(stream: bytes, cuts: list[int]) -> None:
    """Any bytes give the same frames in any pieces."""
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    assert frames(*(stream[a:b] for a, b in pairwise(edges))) == frames(stream)


@pytest.mark.parametrize("line", [b"event:\n", b"event\n", b"event: x\n", b"data\n", b"data: x", b": x\n", b"id: 7\n"])
def test_field_lines_open_a_frame(line: bytes) -> None:
    """A field line opens a frame, also an empty one; a comment and an id do not."""
    decoder = SseDecoder()
    decoder.feed(b"data: first\n\n" + line)
    assert decoder.is_between_frames is line.startswith((b":", b"id"))


def test_an_empty_read_opens_no_frame() -> None:
    """A read of no bytes changes nothing."""
    decoder = SseDecoder()
    decoder.feed(b"data: first\n\n")
    assert decoder.feed(b"") == []
    assert decoder.is_between_frames


def whatwg(stream: bytes) -> list[bytes]:
    """Return the data of each dispatched event, by a slow and literal reading of the standard."""
    text = stream.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found, lines = [], []
    for line in text.split("\n")[:-1]:
        name, _, value = line.partition(":")
        if not line and lines:
            found.append("\n".join(lines).encode())
        if not line:
            lines = []
        elif name == "data":
            lines.append(value.removeprefix(" "))
    return found


@given(
    lines=st.lists(
        st.sampled_from(["data: a", "data:b", "data", ":c", "id: 1", "", "", "event: e", "é: x"]), max_size=30
    )
)
def test_terminated_streams_follow_the_standard(lines: list[str]) -> None:
    """Up to the last blank line, the frames equal those of a second decoder, written from the standard."""
    stream = "".join(f"{line}\n" for line in [*lines, "", ""]).encode()
    assert data(stream) == whatwg(stream)


def _looked_at(reads: Iterable[bytes]) -> int:
    """Return how many stored bytes the decoder copied again, when it joined pieces."""
    total = 0
    decoder = SseDecoder()
    for read in reads:
        kept = sum(map(len, decoder._tail))
        decoder.feed(read)
        if len(decoder._tail) <= 1:
            total += kept
    return total


def test_a_long_line_in_many_reads_is_joined_once() -> None:
    """A line of 1 MB in 1,000 reads is joined once: the cost is linear."""
    reads = [b"data: ", *[b"x" * 1000] * 1000, b"\n\n"]
    assert _looked_at(reads) <= 2 * sum(map(len, reads))
    decoder = SseDecoder()
    for read in reads[:-1]:
        decoder.feed(read)
    assert len(decoder._tail) == len(reads) - 1  # kept in pieces until the line ends
    assert [len(frame.data) for frame in decoder.feed(b"\n\n")] == [1_000_000]


@pytest.mark.parametrize(
    "reads", [[b"data: " + b"x" * 200], [b"data: "] + [b"x" * 9] * 20, [b"data: xxxxxxxxxx\n"] * 11]
)
def test_a_frame_over_the_limit_is_rejected(reads: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, one line in pieces, or many data lines: more than the limit is a protocol error (quirk G6)."""
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 100)
    with pytest.raises(UpstreamError) as refused:
        frames(*reads)
    assert refused.value.code is Code.UPSTREAM_PROTOCOL


@pytest.mark.parametrize("begin", [b"data: ", b"data:"])
def test_frames_below_the_limit_pass(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for one frame: sizes do not add up over frames or comments."""
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 100)
    reads = [begin + b"x" * 90 + b"\n\n", b": ping\n\n"] * 50
    assert len(frames(*reads)) == 50
