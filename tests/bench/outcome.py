"""What the load client says of one load: its JSON, read into values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Shares:
    """The middle and the worst of a hundred, in milliseconds; 0 where nothing was counted."""

    p50: float = 0.0
    p99: float = 0.0

    def __add__(self, other: "Shares") -> "Shares":
        return Shares(self.p50 + other.p50, self.p99 + other.p99)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`added`: an event's way from the upstream to the client; `first` and `total`: from the question on."""

    streams: int
    failed: int
    events: int
    wall: float
    added: Shares
    first: Shares
    total: Shares

    def __add__(self, other: "Outcome") -> "Outcome":
        """Return two steps of one run as one."""
        return Outcome(
            self.streams,
            self.failed + other.failed,
            self.events + other.events,
            self.wall + other.wall,
            self.added + other.added,
            self.first + other.first,
            self.total + other.total,
        )


def read_outcome(text: str | bytes, stamps: int) -> Outcome:
    """Read the client's one line. A stream that brought fewer events than `stamps` has failed, whatever its status."""
    told: Mapping[str, Any] = orjson.loads(text)
    missing = max(0, told["streams"] * stamps - told["events"])
    short = -(-missing // stamps) if stamps else 0
    return Outcome(
        streams=told["streams"],
        failed=max(told["failed"], told["bad_status"], short),
        events=told["events"],
        wall=told["wall_s"],
        added=_shares(told["added_us"]),
        first=_shares(told["tte_us"]),
        total=_shares(told["total_us"]),
    )


def _shares(told: Mapping[str, int]) -> Shares:
    return Shares(told.get("p50", 0) / 1000, told.get("p99", 0) / 1000)
