"""What a worker and the process that started it say to each other: a pipe each way, which the end of either closes."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

DRAIN = b"d"
HURRY = b"h"


@dataclass(frozen=True, slots=True)
class Link:
    """A worker's ends: `orders` is read and ends when the parent does, to `news` it writes once, when it is ready."""

    orders: int
    news: int

    def read(self) -> bytes:
        """Return the orders that have come; nothing once the parent is gone."""
        return os.read(self.orders, 64)

    def tell_ready(self, lines: Sequence[str]) -> None:
        """Say that this worker serves, and what a person should read about it."""
        with suppress(BrokenPipeError):  # the parent has just died; the orders tell of it
            os.write(self.news, "".join(f"{line}\n" for line in ("", *lines)).encode())
        os.close(self.news)


@dataclass(slots=True)
class Worker:
    """The parent's ends of a process; `lines` are there once it is ready."""

    pid: int
    orders: int
    news: int
    born: float
    lines: list[str] | None = None
    _said: bytes = b""

    def order(self, what: bytes) -> None:
        """Tell it to stop; one that is dying does so anyway."""
        with suppress(BrokenPipeError):
            os.write(self.orders, what)

    @property
    def is_starting(self) -> bool:
        """Whether there is still something to hear from it."""
        return self.news >= 0

    def hear(self) -> None:
        """Read what it says, and whether that was all."""
        if said := os.read(self.news, 65_536):
            self._said += said
            return
        os.close(self.news)
        self.news = -1
        if self._said:
            self.lines = self._said.decode().splitlines()[1:]

    def close(self) -> None:
        """Let go of the ends."""
        os.close(self.orders)
        if self.is_starting:
            os.close(self.news)
            self.news = -1
