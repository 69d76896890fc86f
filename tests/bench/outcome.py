"""What the load client says of one load: its JSON, read into values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Percentiles:
    """The middle and the worst of a hundred, in milliseconds; 0 where nothing was counted."""

    p50: float = 0.0
    p99: float = 0.0

    def __add__(self, other: "Percentiles") -> "Percentiles":
        return Percentiles(self.p50 + other.p50, self.p99 + other.p99)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`added`: an event's way from the upstream to the client; `first` and `total`: from the question on."""

    streams: int
    failed: int
    events: int
    wall: float
    added: Percentiles
    first: Percentiles
    total: Percentiles

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
    result: Mapping[str, Any] = orjson.loads(text)
    missing = max(0, result["streams"] * stamps - result["events"])
    short = -(-missing // stamps) if stamps else 0
    return Outcome(
        streams=result["streams"],
        failed=max(result["failed"], result["bad_status"], short),
        events=result["events"],
        wall=result["wall_s"],
        added=_percentiles(result["added_us"]),
        first=_percentiles(result["tte_us"]),
        total=_percentiles(result["total_us"]),
    )


def _percentiles(result: Mapping[str, int]) -> Percentiles:
    return Percentiles(result.get("p50", 0) / 1000, result.get("p99", 0) / 1000)
