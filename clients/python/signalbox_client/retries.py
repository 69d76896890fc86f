"""When a failed request is sent again, and which event a stream resumes after."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass

import httpx

from signalbox_client.errors import ConnectionLost, NotSignalbox, SignalboxError, address
from signalbox_client.events import Event, event_of

# httpx's other errors are mistakes in the request, such as an unsupported URL.
BROKEN = (
    *(httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError, httpx.ProxyError),
    httpx.DecodingError,  # a proxy has damaged the response
)
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The delays between attempts, and the limits at which the client gives up.

    All times are in seconds. The first delay is `first`. Each later delay is twice as long as the delay before it, up
    to `longest`. If a response has a `retry-after`, the delay is at least `retry-after`.

    The client gives up after `attempts` failures in a row, or if `retry-after` is more than `patience`. If a request
    gets no response at all, the client gives up after `connect_attempts` attempts. To resume a stream, the client makes
    up to `attempts` attempts, because the server may restart in the middle of an answer.
    """

    attempts: int = 10
    connect_attempts: int = 5
    first: float = 0.25
    longest: float = 10.0
    patience: float = 60.0


class Failures:
    """Counts failures in a row."""

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self._count = 0
        self.is_resuming = False

    def reset(self) -> None:
        """Begin again, after a success."""
        self._count = 0

    def delay(self, problem: SignalboxError) -> float:
        """Return the seconds before the next attempt, or raise the problem if there is none."""
        self._count += 1
        after = problem.retry_after or 0.0
        attempts = self._backoff.attempts
        if isinstance(problem, ConnectionLost) and not self.is_resuming:
            attempts = min(attempts, self._backoff.connect_attempts)
        if not problem.retryable or self._count >= attempts or after > self._backoff.patience:
            raise problem
        delay = min(self._backoff.first * 2 ** (self._count - 1), self._backoff.longest)
        return max(delay, after) + delay * random.random()  # noqa: S311 - jitter is no secret


class Frames:
    """Splits a stream into events. `cursor` is the id of the last whole frame; half a frame does not count."""

    def __init__(self, url: str, cursor: str = "") -> None:
        self._url = url
        self._buffer = bytearray()
        self.cursor = cursor

    def restart(self) -> None:
        """Forget half a frame, after a cut."""
        self._buffer.clear()

    def feed(self, piece: bytes) -> Iterator[Event]:
        """Yield the events that this piece completes."""
        searched = max(len(self._buffer) - 1, 0)
        self._buffer += piece
        start = 0
        while (end := self._buffer.find(b"\n\n", max(start, searched))) >= 0:
            lines = [line.partition(b": ") for line in bytes(self._buffer[start:end]).split(b"\n")]
            fields = {name: value for name, _, value in lines}
            start = end + 2
            if b"data" in fields:  # a ping has no data
                yield self._event(fields)
        del self._buffer[:start]

    def _event(self, fields: dict[bytes, bytes]) -> Event:
        try:
            cursor = fields[b"id"].decode()
            event = event_of(int(cursor.rpartition(":")[2]), json.loads(fields[b"data"]))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise NotSignalbox(self._url, "an event that cannot be read") from error
        self.cursor = cursor
        return event


def lost(request: httpx.Request, error: BaseException) -> ConnectionLost:
    """Return the error of a connection that could not be made, or that broke."""
    reason = "the connection ended too early" if isinstance(error, StopIteration | StopAsyncIteration) else str(error)
    return ConnectionLost(address(request.url), reason or type(error).__name__)
