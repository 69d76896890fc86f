"""Streams that are open in this worker: so many in all, and so many of one user (quirk G6)."""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

# A user's own streams end when he closes them; this is how long a client may wait before it asks again.
_RETRY_SECONDS = 2.0


class Place:
    """One place among the open streams, held from the request on; it is free again once, whatever came to pass.

    As a block it is given back by an exception alone: a stream that could be made gives it back when it ends.
    """

    __slots__ = ("_owner", "_streams")

    def __init__(self, streams: "Streams", owner: str) -> None:
        self._streams: Streams | None = streams
        self._owner = owner

    def free(self) -> None:
        """Give the place back; a second time does nothing."""
        streams, self._streams = self._streams, None
        if streams is not None:
            streams.give_back(self._owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None:
            self.free()


@dataclass(slots=True)
class Streams:
    """Counts open streams, in all and by owner; the shared owner has no separate limit.

    `open` is how many there are.
    """

    most: int
    most_per_user: int | None = None
    open: int = 0
    _of: dict[str, int] = field(default_factory=dict[str, int])

    def take(self, owner: str) -> Place:
        """Take a place before anything is asked for it; raises RequestError."""
        if self.open >= self.most:
            raise RequestError(Code.TOO_MANY_STREAMS, status=503)
        own = self._of.get(owner, 0)
        if owner and self.most_per_user is not None and own >= self.most_per_user:
            words = f"Too many streams are open: each user may have {self.most_per_user} at once."
            raise RequestError(Code.TOO_MANY_STREAMS, words, retry_after=_RETRY_SECONDS)
        self._of[owner] = own + 1
        self.open += 1
        return Place(self, owner)

    def give_back(self, owner: str) -> None:
        """Count one of them no more."""
        self.open -= 1
        self._of[owner] -= 1
        if not self._of[owner]:
            del self._of[owner]
