"""The pipes between a worker and the supervisor, one in each direction; the end of either process closes them."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

DRAIN = b"d"
HURRY = b"h"
RELOAD = b"r"


@dataclass(frozen=True, slots=True)
class Link:
    """A worker's ends: it reads `orders` until the supervisor dies, and writes to `news` once, when it is ready."""

    orders: int
    news: int

    def read_orders(self) -> bytes:
        """Return the orders received; empty if the supervisor has died."""
        return os.read(self.orders, 64)

    def report_ready(self, lines: Sequence[str]) -> None:
        """Report that this worker is ready, with lines for the operator."""
        with suppress(BrokenPipeError):  # the supervisor has died, which `orders` will show
            os.write(self.news, "".join(f"{line}\n" for line in ("", *lines)).encode())
        os.close(self.news)


@dataclass(slots=True)
class Worker:
    """The supervisor's ends for one worker process; `lines` are set once the worker is ready."""

    pid: int
    orders: int
    news: int
    born: float
    lines: list[str] | None = None
    _said: bytes = b""

    def order(self, what: bytes) -> None:
        """Send an order; a worker that is dying ignores it."""
        with suppress(BrokenPipeError):
            os.write(self.orders, what)

    @property
    def is_starting(self) -> bool:
        """Whether the worker has not reported ready yet."""
        return self.news >= 0

    def read_report(self) -> None:
        """Read a part of its report; set `lines` at the end."""
        if said := os.read(self.news, 65_536):
            self._said += said
            return
        os.close(self.news)
        self.news = -1
        if self._said:
            self.lines = self._said.decode().splitlines()[1:]

    def close(self) -> None:
        """Close the pipes."""
        os.close(self.orders)
        if self.is_starting:
            os.close(self.news)
            self.news = -1
