"""Decodes bytes to server-sent event frames as they arrive; any split of the bytes gives the same frames."""

from itertools import repeat

from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.wire.json_weight import LARGE, JsonWeight

# A line may contain an image as a data URL; a longer one is an attack or a broken provider (quirk G6).
MAX_FRAME_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
# OpenRouter's keep-alive comment, sent before the first frame and in silences (quirk E4).
_KEEP_ALIVE = b": OPENROUTER PROCESSING\n\n"


class Frame(Struct, frozen=True, gc=False):
    """One dispatched event: its joined data lines, and its id and event lines if it has any."""

    data: bytes
    id: str | None = None
    event: str | None = None


class SseDecoder:
    r"""Splits a byte stream as WHATWG defines: lines end in LF, CR or CRLF, a blank line dispatches, `:` is a comment.

    It reads bytes, never text: `str.splitlines` also cuts at U+0085 and U+2028, which JSON strings may hold
    (quirk E5), and a UTF-8 character may be cut between two reads (quirk E6).
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # pieces of the unfinished line, joined once: linear time
        self._tail_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._weight: JsonWeight | None = None  # counts a large unfinished frame
        self._id: str | None = None
        self._event: str | None = None
        self._event_line, self._event_name = b"", ""  # of the last frame that has an event
        self._after_cr = False
        self._at_start = True
        self.is_between_frames = False  # the next byte begins a frame, but not the first

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the frames that these bytes complete; raises UpstreamError for one larger than MAX_FRAME_BYTES."""
        if not self._is_open and (pieces := _whole_frames(chunk)) is not None:
            self._at_start, self.is_between_frames = False, True
            return list(map(Frame, pieces, repeat(self._id)))
        frames = self._split(chunk)
        self.is_between_frames = not (self._is_open or self._at_start)
        return frames

    @property
    def held(self) -> int:
        """How many bytes of an unfinished frame are held."""
        return self._tail_size + self._data_size

    @property
    def _is_open(self) -> bool:
        """Whether part of a frame has arrived, or half of a line end."""
        return bool(self._tail or self._data or self._after_cr) or self._event is not None

    def _split(self, chunk: bytes) -> list[Frame]:
        if b"\r" in chunk or self._after_cr:
            chunk = self._normalise(chunk)
        if b"\n" not in chunk:
            if chunk:
                self._hold(chunk)
            return []
        lines = chunk.split(b"\n")
        if self._tail:
            self._tail.append(lines[0])
            lines[0] = b"".join(self._tail)
            self._tail.clear()
            self._tail_size = 0
            if not self._data:  # otherwise the count continues over the lines of the frame
                self._weight = None
        rest = lines.pop()
        frames: list[Frame] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data: ") and not data and not self._at_start:
                data.append(line[6:])  # the only line of most frames, whatever its length
                self._data_size = len(line)
            elif line and line == self._event_line:
                self._event = self._event_name  # most frames have the event of the one before
            elif line:
                self._line(line)
            elif data:
                frames.append(Frame(data[0] if len(data) == 1 else b"\n".join(data), self._id, self._event))
                data.clear()
                self._data_size = 0
                self._weight = None
                self._event = None
            else:
                self._at_start, self._event = False, None
        if rest:
            self._hold(rest)
        return frames

    def close(self) -> list[Frame]:
        """Return the frame that was still open at the end of the stream.

        WHATWG drops an unterminated event; real providers end without the blank line, and intend the event.
        """
        return self.feed(b"\n\n")

    def _normalise(self, chunk: bytes) -> bytes:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _hold(self, piece: bytes) -> None:
        self._tail.append(piece)
        self._tail_size += len(piece)
        self._check_size(self._tail_size, piece, self._tail)

    def _check_size(self, size: int, piece: bytes, pieces: list[bytes]) -> None:
        """Reject a frame with too many bytes or too many JSON values; `piece` is the last of its `pieces`."""
        if size > MAX_FRAME_BYTES:
            words = f"One frame is larger than {MAX_FRAME_BYTES} bytes."
            raise UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)
        if size <= LARGE or not piece:
            return
        if self._weight is None:
            self._weight = JsonWeight()
            piece = b"".join(pieces)
        self._weight.feed(piece)

    def _line(self, line: bytes) -> None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if line.startswith(b"data:"):
            piece = line[6:] if line[5:6] == b" " else line[5:]
            self._data.append(piece)
            self._data_size += len(piece) + 1
            self._check_size(self._data_size, piece, self._data)
        elif line[:1] != b":":
            self._field(line)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"id" and "\0" not in text:
            self._id = text
        elif name == b"event":
            self._event = self._event_name = text
            self._event_line = line
        elif name == b"data":
            self._data.append(b"")


def _whole_frames(chunk: bytes) -> list[bytes] | None:
    """Return the data of a read that consists of whole one-line frames, as most do; None for any other read."""
    if chunk == _KEEP_ALIVE:
        return []
    chunk = chunk.removeprefix(_KEEP_ALIVE)
    if not (chunk.startswith(b"data: ") and chunk.endswith(b"\n\n")) or b"\r" in chunk:
        return None
    pieces = chunk[6:-2].split(b"\n\ndata: ")
    return pieces if chunk.count(b"\n") == 2 * len(pieces) else None  # otherwise there are other lines in between
