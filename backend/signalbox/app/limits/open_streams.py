"""Limits of the open streams of this worker, in total and per user (quirk G6)."""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

# Users can close their own streams, so a retry may succeed soon.
_RETRY_SECONDS = 2.0


class Slot:
    """The slot of one open stream, held from the request on and released exactly once.

    As a context manager it releases the slot only after an exception. Otherwise the stream releases it at its end.
    """

    __slots__ = ("_owner", "_streams")

    def __init__(self, streams: "Streams", owner: str) -> None:
        self._streams: Streams | None = streams
        self._owner = owner

    def release(self) -> None:
        """Release the slot; further calls do nothing."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams.release(self._owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.release()


@dataclass(slots=True)
class Streams:
    """Counts open streams, in total (`open`) and per owner. Requests without an API token have no limit per owner."""

    most: int
    most_per_user: int | None = None
    open: int = 0
    _of: dict[str, int] = field(default_factory=dict[str, int])

    def acquire(self, owner: str) -> Slot:
        """Acquire a slot, before the upstream or the database is used; raises RequestError."""
        if self.open >= self.most:
            raise RequestError(Code.TOO_MANY_STREAMS, status=503)
        own = self._of.get(owner, 0)
        if owner and self.most_per_user is not None and own >= self.most_per_user:
            words = f"Too many streams are open: each user may have {self.most_per_user} at once."
            raise RequestError(Code.TOO_MANY_STREAMS, words, retry_after=_RETRY_SECONDS)
        self._of[owner] = own + 1
        self.open += 1
        return Slot(self, owner)

    def release(self, owner: str) -> None:
        """Release a slot of this owner."""
        self.open -= 1
        self._of[owner] -= 1
        if not self._of[owner]:
            del self._of[owner]
