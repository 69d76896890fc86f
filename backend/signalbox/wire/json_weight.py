"""Counts the values of a large JSON text as it arrives: too many of them would block the event loop in the parser."""

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError

# Bytes above which the values of a frame or a body are counted.
LARGE = 256 * 1024
# Lists, objects and commas: parsing this many takes 30 ms. A text answer has a few dozen, a catalogue 60 per model.
MOST_VALUES = 50_000
MOST_IN_A_LIST_OF_MODELS = 300_000
_STRUCTURE = (b"{", b"[", b",")


class JsonWeight:
    """Counts lists, objects and commas outside strings, over the pieces of a text; raises above `most`."""

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._count = 0
        self._in_string = False
        self._is_escaped = False

    def feed(self, piece: bytes) -> None:
        """Count the next piece."""
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
