"""Decodes one streamed answer to parts as its bytes arrive, for all dialects."""

from abc import ABC, abstractmethod

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Fault, StreamPart, Unreadable
from signalbox.wire.json_text import loads
from signalbox.wire.sse import Frame, SseDecoder

# An upstream that sends more invalid frames than this does not speak the protocol.
_UNREADABLE_LIMIT = 5
# A frame of more bytes may take too long to be processed at once.
_LARGE_FRAME = 16 * 1024


class StreamDecoder(ABC):
    """Splits the bytes of one answer into server-sent events; a dialect decodes each. Repairs nothing.

    Any split of the bytes gives the same parts. `has_begun`: a byte other than white space has arrived. `has_outcome`:
    a finish reason, an error or the end has arrived. `has_ended`: the upstream has announced that nothing follows.
    `is_large`: the last read may have completed a frame that is too large to be processed at once; the reader resets
    it.
    """

    def __init__(self) -> None:
        self._sse = SseDecoder()
        self._unreadable = 0
        self.has_begun = False
        self.has_outcome = False
        self.has_ended = False
        self.is_large = False

    @property
    def held(self) -> int:
        """How many bytes of an unfinished frame are held."""
        return self._sse.held

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes; raises UpstreamError for a frame without an end."""
        self._update_flags(data)
        out: list[StreamPart] = []
        for frame in self._sse.feed(data):
            self._dispatch(frame, out)
        return out

    def close(self) -> list[StreamPart]:
        """Return the parts that were still open when the bytes ended."""
        out: list[StreamPart] = []
        for frame in self._sse.close():
            self._dispatch(frame, out)
        return out

    @abstractmethod
    def decode(self, event: str | None, data: bytes, out: list[StreamPart]) -> None:
        """Append the parts of one event to `out`, and set `has_outcome` and `has_ended` if it contains them."""

    def described(self) -> JsonObject:
        """Return further fields for `signalbox decode` that only the bytes contain; called after `close`."""
        return {}

    def value_of(self, data: bytes, out: list[StreamPart]) -> JsonValue:
        """Parse an event's JSON. An event that is not JSON is left out and reported; too many of them are an error."""
        try:
            return loads(data)
        except ValueError:
            pass
        # Two frames joined into one, the first one cut: the text after the last `data: ` is complete (quirk E10).
        _, separator, rest = data.rpartition(b"data: ")
        value: JsonValue = None
        if separator:
            try:
                value = loads(rest)
            except ValueError:
                value = None
        self._unreadable += 1
        out.append(Unreadable(len(data)))
        if self._unreadable > _UNREADABLE_LIMIT:
            out.append(Fault(UpstreamError(Code.UPSTREAM_PROTOCOL, "The upstream sent data that is not JSON.")))
            self.has_outcome = True
        return value

    def _dispatch(self, frame: Frame, out: list[StreamPart]) -> None:
        """Decode a frame, unless it is empty or follows the end."""
        data = frame.data.strip()
        # Keep-alives rewrapped as data by proxies and Vertex partner models: `data: : keepalive` (quirk E4).
        if data and not data.startswith(b":") and not self.has_ended:
            self.decode(frame.event, data, out)

    def _update_flags(self, data: bytes) -> None:
        """Set the flags that do not depend on the meaning of the bytes."""
        self.has_begun = self.has_begun or bool(data.strip())
        self.is_large = self._sse.held > _LARGE_FRAME
