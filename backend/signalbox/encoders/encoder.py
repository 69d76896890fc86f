"""What an encoder is: it turns the events of one run into the bytes of one client protocol.

Encoders are pure: they know the run's record and its journal, and no clock and no random number. The same run is always
encoded to the same bytes, so a client can resume a stream in any worker and after a restart.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, TypeAlias

from signalbox.core.errors import RequestError
from signalbox.core.events import Stamped
from signalbox.core.records import RunRecord

ErrorOf: TypeAlias = Callable[[RequestError], tuple[int, bytes]]
"""Writes a request that starts no run as an HTTP status and a body."""


class Encoder(Protocol):
    """Encodes one run for one subscriber.

    `done` is the last event of every run, so an encoder writes the end of its stream when it meets it. `headers` are
    sent beside the content type; `ping` keeps a silent connection open, and is written only between two batches.

    `starts_anywhere`: an encoder can begin behind any event. One that cannot, because it numbers its frames or closes
    blocks that it opened, is given the run from its first event; what the client has read already is left out.
    """

    content_type: ClassVar[str]
    headers: ClassVar[Mapping[str, str]]
    ping: ClassVar[bytes]
    starts_anywhere: ClassVar[bool]

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        """Begin behind the event numbered `after`."""
        ...

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the bytes of a batch, none where the protocol cannot say it."""
        ...


class WholeEncoder(Protocol):
    """Encodes one run as a single answer, for clients that do not ask for a stream."""

    content_type: ClassVar[str]

    def __init__(self, run: RunRecord) -> None:
        """Begin with nothing."""
        ...

    def feed(self, batch: list[Stamped]) -> None:
        """Take in the next events; the last batch of a run ends with `done`."""
        ...

    def answer(self) -> tuple[int, bytes]:
        """Return the status and the body; a run that failed has the status of its failure."""
        ...


class ResumedEncoder:
    """Encodes a run from its first event, and returns only what comes behind a cursor."""

    def __init__(self, encoder: Encoder, after: int) -> None:
        self._encoder = encoder
        self._after = after

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the bytes of those events of a batch that the client has not read."""
        read = sum(stamped.seq <= self._after for stamped in batch)
        if read:
            self._encoder.encode(batch[:read])
        return self._encoder.encode(batch[read:]) if read < len(batch) else b""
