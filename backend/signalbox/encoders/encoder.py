"""The interface of an encoder, which turns the events of one run into the bytes of one client protocol.

Encoders are pure: they depend only on the run's record and its journal, not on a clock or random numbers. The same run
always gives the same bytes, so a client can resume a stream in any worker and after a restart.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, TypeAlias

from msgspec import UNSET, Struct

from signalbox.core.bounds.run_limits import COST_LIMITS
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.events import Done, Stamped
from signalbox.core.records import RunRecord

ErrorOf: TypeAlias = Callable[[RequestError], tuple[int, bytes | str]]
"""Encodes the error of a rejected request as an HTTP status and a body: JSON as bytes, or plain text as a string."""


_FAILED = frozenset({"error", "interrupted", "content_filter"})


def failure_of(done: Done) -> RequestError | None:
    """Return how a run failed, for protocols whose clients read it from the HTTP status; None if it did not fail."""
    if done.status not in _FAILED:
        return None
    code = Code(done.code) if done.code is not UNSET else Code.INTERNAL
    message = done.error if done.error is not UNSET else ""
    return RequestError(code, message, retry_after=None if done.retry_after is UNSET else done.retry_after)


def reached_cost_limit(done: Done) -> bool:
    """Return whether a cost limit or a budget ended the run: clients get the answer so far, as after a length limit."""
    return done.status == "interrupted" and done.code is not UNSET and done.code in COST_LIMITS


class Encoder(Protocol):
    """Encodes one run for one subscriber.

    `done` is the last event of every run, so the encoder writes the end of the stream when it receives `done`.
    `headers` are sent beside the content type. `ping` keeps a silent connection open; it is written only between two
    batches.

    `starts_anywhere`: the encoder can begin after any event. Otherwise, for example if it numbers its frames, it
    receives the run from the first event, and the bytes that the client has already read are dropped.
    """

    content_type: ClassVar[str]
    headers: ClassVar[Mapping[str, str]]
    ping: ClassVar[bytes]
    starts_anywhere: ClassVar[bool]

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        """Begin after the event with the sequence number `after`."""
        ...

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the bytes of a batch; empty if the protocol has no frame for any of its events."""
        ...


class Opening(Struct, frozen=True):
    """What a stream begins with, read from the store before the run's first event.

    `data` precedes the first frame. `encoder_of` makes the encoder of a record, after a sequence number.
    """

    data: bytes
    encoder_of: Callable[[RunRecord, int], Encoder]


class WholeEncoder(Protocol):
    """Encodes one run as a single response body, for clients that do not request a stream."""

    content_type: ClassVar[str]

    def __init__(self, run: RunRecord) -> None:
        """Begin before the first event."""
        ...

    def feed(self, batch: list[Stamped]) -> None:
        """Add the next events; the last batch of a run ends with `done`."""
        ...

    def answer(self) -> tuple[int, bytes]:
        """Return the HTTP status and the body; a failed run has the status of its error code."""
        ...


class ResumedEncoder:
    """Encodes a run from its first event, and returns only the bytes after a cursor."""

    def __init__(self, encoder: Encoder, after: int) -> None:
        self._encoder = encoder
        self._after = after

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the bytes of the events that the client has not read yet."""
        read = sum(stamped.seq <= self._after for stamped in batch)
        if read:
            self._encoder.encode(batch[:read])
        return self._encoder.encode(batch[read:]) if read < len(batch) else b""
