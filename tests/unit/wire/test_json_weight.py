"""Values of a large JSON text are counted over its pieces, and only outside strings."""

import orjson
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.wire.json_weight import LARGE, JsonWeight
from signalbox.wire.openrouter.stream import ChatStreamDecoder
from signalbox.wire.sse import SseDecoder

TRICKY = orjson.dumps({"a": 'quo"te, [', "b\\": "\\", "c": ["{", {"d": '\\"'}, 'x\\"']})


def counted(pieces: list[bytes], most: int) -> bool:
    """Whether the text of these pieces is below the limit."""
    weight = JsonWeight(most)
    try:
        for piece in pieces:
            weight.feed(piece)
    except UpstreamError as error:
        return error.code is not Code.UPSTREAM_PROTOCOL or error.retryable
    return True


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_count_does_not_depend_on_the_pieces(size: int) -> None:
    """Lists, objects and commas are counted outside of strings, however the text is cut, in an escape or elsewhere."""
    pieces = [TRICKY[at : at + size] for at in range(0, len(TRICKY), size)]
    structure = 3 + 4  # {, [ and { open; two commas part the fields, two the items
    assert counted(pieces, structure)
    assert not counted(pieces, structure - 1)


@pytest.mark.parametrize("data", [b"{},", b"[", b"1,", b'{"a":1},'])
def test_a_frame_of_too_many_values_is_rejected_early(data: bytes) -> None:
    """A frame with too many values is a protocol error before it is complete; it is never parsed or stored whole."""
    decoder = ChatStreamDecoder()
    read = data * (LARGE // len(data))
    decoder.feed(b"data: ")

    def feed() -> None:
        for _ in range(5):
            decoder.feed(read)

    with pytest.raises(UpstreamError, match="values in one piece"):
        feed()


def test_a_frame_of_data_lines_is_counted_too() -> None:
    """The lines of one frame are counted as one text, and their sizes are added."""
    with pytest.raises(UpstreamError, match="values in one piece"):
        SseDecoder().feed(b"data:[[[[[[\n" * 80_000)


def test_large_text_passes() -> None:
    """Ten megabytes of prose, or of code with brackets and quotes, in one frame pass."""
    text = 'print({"a": [1, 2, 3]}, "\\\\") ' * 350_000
    frame = b"data: " + orjson.dumps({"choices": [{"delta": {"content": text}}]}) + b"\n\n"
    decoder = ChatStreamDecoder()
    parts = [part for at in range(0, len(frame), 32_768) for part in decoder.feed(frame[at : at + 32_768])]
    assert [getattr(part, "text", "") for part in parts] == [text]


def test_many_data_lines_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of many lines in many reads, each cut within a line, is counted once."""
    fed: list[int] = []
    feed = JsonWeight.feed
    monkeypatch.setattr(JsonWeight, "feed", lambda self, piece: (fed.append(len(piece)), feed(self, piece))[1])
    decoder = SseDecoder()
    for _ in range(40):
        decoder.feed(b"data: aaaaaaaaaaaaaa\n" * 1_000 + b"data: a")
        decoder.feed(b"a\n")
    assert sum(fed) <= 40 * 1_000 * 16
