"""Decodes a streamed chat completion to parts as its bytes arrive."""

from msgspec.structs import replace

from signalbox.core.parts import CallDelta, EndOfStream, Fault, Served, StreamPart, TextDelta
from signalbox.wire.openrouter.decoder import ChunkDecoder
from signalbox.wire.openrouter.errors import error_of_value
from signalbox.wire.openrouter.surrogates import ends_within, joined
from signalbox.wire.openrouter.template_decoder import TemplateDecoder
from signalbox.wire.sse import Frame
from signalbox.wire.stream_decoder import StreamDecoder

# At most a comment, the role and a frame that names the model precede the first piece.
_OPENING_FRAMES = 4
# A shorter read has few frames.
MANY_BYTES = 4096
# Bytes of frames that the first attempt to decode many at once covers.
_WINDOW = 16 * 1024
_BORDER = b"\n\n"
# Bytes at the end of an answer that contain the finish reason, if there is one.
_LAST_BYTES = 4096
_FINISHES = (b'"finish_reason":"', b'"finish_reason": "')


class ChatStreamDecoder(StreamDecoder):
    """Decodes choice 0. Most reads repeat the shape of the one before and take a faster path."""

    def __init__(self, served: Served | None = None) -> None:
        """Begin; `served` is what the response headers contain."""
        super().__init__()
        self._chunks = ChunkDecoder(served)
        self._template = TemplateDecoder()
        self._half: Frame | None = None

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes; raises UpstreamError for a frame without an end."""
        if (piece := self._template.piece_of(data)) is not None:
            index = self._template.index
            if index is not None:
                return [CallDelta(index, arguments=piece)]
            return [TextDelta(piece)] if piece else []
        self._template.forget()
        out: list[StreamPart] = []
        self._update_flags(data)
        if len(data) < MANY_BYTES:
            self._decode_each(data, out)
            if self._is_between_plain:
                self._template.learn(data, self._chunks.origin)
        else:
            self._decode_many(data, out)
        return out

    def _decode_each(self, data: bytes, out: list[StreamPart]) -> None:
        chunks = self._chunks
        for frame in self._sse.feed(data):
            # Most frames have the shape of the one before; the others take the slow path.
            parts = chunks.plain(frame.data) if chunks.is_plain and frame.event is None else None
            if parts is None:
                self._dispatch(frame, out)
            else:
                out += parts

    def _decode_many(self, data: bytes, out: list[StreamPart]) -> None:
        """Decode many frames: the first ones one by one, then runs of similar ones at once."""
        start = 0
        for _ in range(_OPENING_FRAMES):
            if self._is_between_plain:
                break
            start, before = _frame_end(data, start), start
            self._decode_each(data[before:start], out)
        start = self._decode_similar(data, start, _likely_end(data), out)
        self._decode_each(data[start:], out)

    def _decode_similar(self, data: bytes, start: int, end: int, out: list[StreamPart]) -> int:
        """Decode runs of similar frames between `start` and `end`; return the offset of the rest.

        A different frame in between is decoded alone, and the attempt is repeated after it. An attempt covers about as
        much as the last one decoded, so the cost grows only with the number of frames.
        """
        size = _WINDOW
        while self._is_between_plain and end - start >= MANY_BYTES:
            window = data[start : min(end, _frame_end(data, start + size))]
            others = self._chunks.similar(window, out)
            taken = len(window) - len(others)
            if not taken:
                break
            start += taken
            size = 2 * taken if others else 4 * size
            if others:
                start, before = _frame_end(data, start), start
                self._decode_each(data[before:start], out)
        return start

    @property
    def _is_between_plain(self) -> bool:
        return self._chunks.is_plain and self._sse.is_between_frames

    def close(self) -> list[StreamPart]:
        """Return the parts that were still open when the bytes ended, and the merged reasoning details."""
        out = super().close()
        if self._half is not None:
            super()._dispatch(self._half, out)
            self._half = None
        self._chunks.close(out)
        return out

    def _dispatch(self, frame: Frame, out: list[StreamPart]) -> None:
        """Decode a frame; one that ends within a character is held until the next one is there."""
        if (half := self._half) is not None:
            first, second = joined(half.data, frame.data)
            super()._dispatch(replace(half, data=first), out)
            frame, self._half = replace(frame, data=second), None
        if ends_within(frame.data):
            self._half = frame
            self._chunks.is_plain = False  # the next frame takes this path too
        else:
            super()._dispatch(frame, out)

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
    """Return where the frame at `at` ends; if it is cut, where the last whole frame ends, or 0."""
    border = data.find(_BORDER, at)
    if border < 0:
        border = data.rfind(_BORDER)
    return 0 if border < 0 else border + len(_BORDER)


def _likely_end(data: bytes) -> int:
    """Return where the frame with the finish reason begins, else where the last whole frame ends, or 0.

    A guess that saves an attempt: an earlier frame may differ as well.
    """
    last = max(data.rfind(finish, len(data) - _LAST_BYTES) for finish in _FINISHES)
    border = data.rfind(_BORDER, 0, last if last >= 0 else len(data))
    return 0 if border < 0 else border + len(_BORDER)
