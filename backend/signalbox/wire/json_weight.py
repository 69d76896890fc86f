"""How much JSON a large text holds, counted while it comes: too much of it would stall the parser."""

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError

# From this size on a frame or a body is large: its structure is counted.
LARGE = 256 * 1024
# Lists, objects and commas: reading so many takes 30 ms. An answer of text has a few dozen, a catalogue 60 a model.
MOST_VALUES = 50_000
MOST_IN_A_LIST_OF_MODELS = 300_000
_STRUCTURE = (b"{", b"[", b",")


class JsonWeight:
    """Counts what stands outside of strings in a JSON text that comes in pieces; raises UpstreamError when too much."""

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._count = 0
        self._in_string = False
        self._is_escaped = False

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        if self._is_escaped:
            piece = piece[1:]
        bare = piece.replace(b"\\\\", b"")
        self._is_escaped = bare.endswith(b"\\")
        texts = bare.replace(b'\\"', b"").split(b'"')
        outside = texts[1::2] if self._in_string else texts[::2]
        if len(texts) % 2 == 0:
            self._in_string = not self._in_string
        between = b"".join(outside)
        self._count += sum(map(between.count, _STRUCTURE))
        if self._count > self._most:
            words = f"The upstream's answer holds more than {self._most:,} values in one piece."
            raise UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)
