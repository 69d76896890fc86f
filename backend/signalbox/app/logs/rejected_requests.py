"""Rejected requests in the log: one line each, and a count beyond a limit per minute."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import TypeAlias

import structlog
from starlette.types import Scope

from signalbox.app.access import ANONYMOUS, CALLER, Caller
from signalbox.app.asgi.request_id import info_of
from signalbox.metrics.counters import NO_COUNTERS, Counters

# A client without a token may send a thousand requests a second, which must not fill the disk.
MOST_LINES = 20
SECONDS = 60.0
_LONGEST_PATH = 200
# Access and limits: many of these need attention. Any other 4xx is a mistake of the client.
_NOTABLE = frozenset({401, 402, 403, 413, 429, 503})

Kind: TypeAlias = tuple[int, str | None]
Later: TypeAlias = Callable[[float, Callable[[], None]], object]

_log = structlog.get_logger()


@dataclass(slots=True)
class _Window:
    """One minute of one kind: its start, the lines written, the rejections without a line."""

    began: float
    written: int = 0
    skipped: int = 0


def _call_later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


class RejectionLog:
    """Logs rejected requests: at most `MOST_LINES` per minute, status and code, and the number of further ones.

    `count` is how many the process has rejected since its start. `counters` count them for metrics.
    """

    def __init__(self, clock: Callable[[], float] = monotonic, later: Later = _call_later) -> None:
        self._clock = clock
        self._later = later
        self._windows: dict[Kind, _Window] = {}
        self._counts: Counter[Kind] = Counter()
        self.counters: Counters = NO_COUNTERS

    def add(self, scope: Scope, status: int, code: str | None) -> None:
        """Log a rejection, or count it."""
        self.counters.request_refused(status, code)
        if info_of(scope).is_logged:
            return
        kind, now = (status, code), self._clock()
        self._counts[kind] += 1
        window = self._windows.get(kind)
        if window is None or now - window.began >= SECONDS:
            self._sum_up(kind)
            window = self._windows[kind] = _Window(now)
        if window.written < MOST_LINES:
            window.written += 1
            self._write(scope, kind)
            return
        window.skipped += 1
        if window.skipped == 1:
            self._later(window.began + SECONDS - now, lambda: self._sum_up(kind, window))

    def _write(self, scope: Scope, kind: Kind) -> None:
        caller: Caller = scope.get(CALLER, ANONYMOUS)
        client, info, (status, code) = scope.get("client"), info_of(scope), kind
        _log.log(
            _level(status),
            "request.rejected",
            request_id=info.id,
            status=status,
            code=code,
            count=self._counts[kind],
            method=scope["method"],
            path=scope["path"][:_LONGEST_PATH],
            owner=caller.owner or ("operator" if caller.is_operator else None),
            client=client[0] if client else None,
        )

    def _sum_up(self, kind: Kind, of: _Window | None = None) -> None:
        """Log how many rejections had no line. `of` is the window to report, which may have been replaced."""
        window = self._windows.get(kind)
        if window is None or (of is not None and window is not of):
            return
        del self._windows[kind]
        if window.skipped:
            status, code = kind
            seconds = round(self._clock() - window.began, 1)
            _log.log(
                _level(status),
                "requests.rejected",
                status=status,
                code=code,
                count=self._counts[kind],
                more=window.skipped,
                seconds=seconds,
            )

    def flush(self) -> None:
        """Log the open counts, at the end of the process."""
        for kind in list(self._windows):
            self._sum_up(kind)


def _level(status: int) -> int:
    """Return the level as a number of the standard library."""
    if status >= 500 and status != 503:
        return 40
    return 30 if status in _NOTABLE else 20
