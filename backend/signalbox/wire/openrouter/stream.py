"""One streamed chat completion: bytes to parts as they arrive."""

from msgspec.structs import replace

from signalbox.core.parts import CallDelta, EndOfStream, Fault, Served, StreamPart, TextDelta
from signalbox.wire.openrouter.decoder import ChunkDecoder
from signalbox.wire.openrouter.errors import error_of_value
from signalbox.wire.openrouter.surrogates import ends_within, joined
from signalbox.wire.openrouter.template_decoder import OneByOne
from signalbox.wire.sse import Frame
from signalbox.wire.stream_decoder import StreamDecoder

# Before a piece come at most a comment, the role and a frame that says who speaks.
_OPENING_FRAMES = 4
# A read shorter than this is a few frames at most.
MANY_BYTES = 4096
# So many bytes of frames are first tried in one go.
_WINDOW = 16 * 1024
_BORDER = b"\n\n"
# A finish reason is in the last frames of an answer, if at all.
_LAST_BYTES = 4096
_FINISHES = (b'"finish_reason":"', b'"finish_reason": "')


class ChatStreamDecoder(StreamDecoder):
    """Decodes choice 0. Most reads repeat the shape of the one before and take a faster path."""

    def __init__(self, served: Served | None = None) -> None:
        """Begin; `served` is what the response's headers said."""
        super().__init__()
        self._chunks = ChunkDecoder(served)
        self._alone = OneByOne()
        self._held: Frame | None = None

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes; raises UpstreamError for a frame without an end."""
        if (piece := self._alone.piece_of(data)) is not None:
            index = self._alone.index
            if index is not None:
                return [CallDelta(index, arguments=piece)]
            return [TextDelta(piece)] if piece else []
        self._alone.forget()
        out: list[StreamPart] = []
        self._note(data)
        if len(data) < MANY_BYTES:
            self._read(data, out)
            if self._is_between_plain:
                self._alone.learn(data, self._chunks.who_said)
        else:
            self._read_many(data, out)
        return out

    def _read(self, data: bytes, out: list[StreamPart]) -> None:
        chunks = self._chunks
        for frame in self._sse.feed(data):
            # A frame like the one before it, most of the time; where it is not, the long way finds that out.
            parts = chunks.plain(frame.data) if chunks.is_plain and frame.event is None else None
            if parts is None:
                self._take(frame, out)
            else:
                out += parts

    def _read_many(self, data: bytes, out: list[StreamPart]) -> None:
        """Take many frames: the first ones as always, and of those behind them in one go what is alike."""
        start = 0
        for _ in range(_OPENING_FRAMES):
            if self._is_between_plain:
                break
            start, before = _frame_end(data, start), start
            self._read(data[before:start], out)
        start = self._read_alike(data, start, _likely_end(data), out)
        self._read(data[start:], out)

    def _read_alike(self, data: bytes, start: int, end: int, out: list[StreamPart]) -> int:
        """Take the frames between `start` and `end` for as long as many are alike; return where the others begin.

        A frame of another kind among them goes the long way, and what is behind it is tried anew. A try is about as
        long as what the last one brought, so that the cost grows with the frames alone.
        """
        size = _WINDOW
        while self._is_between_plain and end - start >= MANY_BYTES:
            window = data[start : min(end, _frame_end(data, start + size))]
            others = self._chunks.alike(window, out)
            taken = len(window) - len(others)
            if not taken:
                break
            start += taken
            size = 2 * taken if others else 4 * size
            if others:
                start, before = _frame_end(data, start), start
                self._read(data[before:start], out)
        return start

    @property
    def _is_between_plain(self) -> bool:
        return self._chunks.is_plain and self._sse.is_between_frames

    def close(self) -> list[StreamPart]:
        """Return the parts that were still open when the bytes ended, and the merged reasoning details."""
        out = super().close()
        if self._held is not None:
            super()._take(self._held, out)
            self._held = None
        self._chunks.close(out)
        return out

    def _take(self, frame: Frame, out: list[StreamPart]) -> None:
        """Decode a frame; one that ends within a character is held until the next one is there."""
        if (held := self._held) is not None:
            first, second = joined(held.data, frame.data)
            super()._take(replace(held, data=first), out)
            frame, self._held = replace(frame, data=second), None
        if ends_within(frame.data):
            self._held = frame
            self._chunks.is_plain = False  # the next one comes this way, too
        else:
            super()._take(frame, out)

    def decode(self, event: str | None, data: bytes, out: list[StreamPart]) -> None:
        """Append the parts of one chunk, of an error or of the end."""
        if data == b"[DONE]":
            self._chunks.close(out)
            out.append(EndOfStream())
            self.has_outcome = self.has_ended = True
            self._chunks.is_plain = False
            return
        if event == "error" and not data.startswith(b"{"):
            words = data.decode("utf-8", "replace")
            out.append(Fault(error_of_value(words), words))
            self.has_outcome = True
            return
        value = self.value_of(data, out)
        if isinstance(value, dict):
            self._chunks.chunk(value, out, failed=event == "error")
            self.has_outcome = self.has_outcome or self._chunks.has_outcome


def _frame_end(data: bytes, at: int) -> int:
    """Return where the frame that `at` is in ends; of one that is cut, where the last whole one does, 0 for none."""
    border = data.find(_BORDER, at)
    if border < 0:
        border = data.rfind(_BORDER)
    return 0 if border < 0 else border + len(_BORDER)


def _likely_end(data: bytes) -> int:
    """Return where the frame with the finish reason begins, or else where the last whole frame ends, 0 for none.

    That is a guess, which spares a try: a frame before it may still say something else.
    """
    last = max(data.rfind(finish, len(data) - _LAST_BYTES) for finish in _FINISHES)
    border = data.rfind(_BORDER, 0, last if last >= 0 else len(data))
    return 0 if border < 0 else border + len(_BORDER)
