"""One streamed answer in OpenRouter's dialect: bytes to parts, where they arrive."""

from signalbox.core.errors import Code, UpstreamError
from signalbox.core.messages import JsonValue
from signalbox.core.parts import CallDelta, EndOfStream, Fault, Served, StreamPart, TextDelta, Unreadable
from signalbox.wire.alike import OneByOne
from signalbox.wire.bulk import MANY_BYTES, last_border, next_border
from signalbox.wire.jsontext import loads
from signalbox.wire.openrouter import ChunkDecoder
from signalbox.wire.openrouter_errors import error_of_value
from signalbox.wire.sse import Frame, SseDecoder

# A host that sends this many frames which are no JSON is not speaking the protocol.
_UNREADABLE_LIMIT = 5
# Before a piece come at most a comment, the role and a frame that says who speaks.
_OPENING_FRAMES = 4
# So many bytes of frames are first tried in one go.
_WINDOW = 16 * 1024


class StreamDecoder:
    """Bytes of one streamed answer to parts; wire truth of choice 0, nothing repaired.

    `has_begun`: anything came at all. `is_told`: a finish reason, an error or the end came. `has_ended`: `[DONE]` did.
    """

    def __init__(self, served: Served | None = None) -> None:
        """Begin; `served` is what the response's headers told already."""
        self._sse = SseDecoder()
        self._chunks = ChunkDecoder(served)
        self._alone = OneByOne()
        self._unreadable = 0
        self.is_told = False
        self.has_begun = False
        self.has_ended = False

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes."""
        if (piece := self._alone.piece_of(data)) is not None:
            index = self._alone.index
            if index is not None:
                return [CallDelta(index, arguments=piece)]
            return [TextDelta(piece)] if piece else []
        self._alone.forget()
        out: list[StreamPart] = []
        self.has_begun = self.has_begun or bool(data.strip())
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
                self._frame(frame, out)
            else:
                out += parts

    def _read_many(self, data: bytes, out: list[StreamPart]) -> None:
        """Take many frames: the first ones and the last ones as always, those between that are alike in one go."""
        start = 0
        for _ in range(_OPENING_FRAMES):
            if self._is_between_plain:
                break
            start, before = next_border(data, start), start
            self._read(data[before:start], out)
        end = last_border(data, start)
        self._read_alike(data[start:end], out)
        self._read(data[end:], out)

    def _read_alike(self, frames: bytes, out: list[StreamPart]) -> None:
        """Take frames that are likely all plain: in one go those up to one that is not, which goes the long way.

        Where that one is near, as many as are not worth a try go with it: what is tried is read again. So a try is
        short until one has come through, and the cost grows with the frames alone.
        """
        start, size = 0, _WINDOW
        while len(frames) - start >= MANY_BYTES:
            window = frames[start : min(len(frames), next_border(frames, start + size))]
            others = self._chunks.plain_ones(window, out) if self._is_between_plain else window
            worth, start = start + MANY_BYTES, start + len(window) - len(others)
            size = _WINDOW if others else 4 * size
            if others:
                odd = min(len(frames), next_border(frames, max(start, worth)))
                self._read(frames[start:odd], out)
                start = odd
        if start < len(frames):
            self._read(frames[start:], out)

    @property
    def _is_between_plain(self) -> bool:
        return self._chunks.is_plain and self._sse.is_between_frames

    def close(self) -> list[StreamPart]:
        """Return what was still open when the bytes ended."""
        out: list[StreamPart] = []
        for frame in self._sse.close():
            self._frame(frame, out)
        self._chunks.close(out)
        return out

    def _frame(self, frame: Frame, out: list[StreamPart]) -> None:
        if self.has_ended:  # what follows [DONE] counts no more
            return
        data = frame.data.strip()
        # Keep-alives rewrapped as data by proxies and Vertex partner models: `data: : keepalive` (quirk E4).
        if not data or data.startswith(b":"):
            return
        if data == b"[DONE]":
            self._chunks.close(out)
            out.append(EndOfStream())
            self.is_told = self.has_ended = True
            self._chunks.is_plain = False
            return
        if frame.event == "error" and not data.startswith(b"{"):
            words = data.decode("utf-8", "replace")
            out.append(Fault(error_of_value(words), words))
            self.is_told = True
            return
        value = self._value(data, out)
        if isinstance(value, dict):
            self._chunks.chunk(value, out, failed=frame.event == "error")
            self.is_told = self.is_told or self._chunks.is_told

    def _value(self, data: bytes, out: list[StreamPart]) -> JsonValue:
        try:
            return loads(data)
        except ValueError:
            pass
        # Two frames glued together, the first one cut: what follows the last `data: ` is whole (quirk E10).
        _, glue, rest = data.rpartition(b"data: ")
        value: JsonValue = None
        if glue:
            try:
                value = loads(rest)
            except ValueError:
                value = None
        self._unreadable += 1
        out.append(Unreadable(len(data)))
        if self._unreadable > _UNREADABLE_LIMIT:
            error = UpstreamError(Code.UPSTREAM_PROTOCOL, "The upstream sends frames that are not JSON.")
            out.append(Fault(error))
            self.is_told = True
        return value
