"""The load client's JSON result of a load."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Two percentiles in milliseconds; 0 without measurements."""

    p50: float = 0.0
    p99: float = 0.0

    def __add__(self, other: "Percentiles") -> "Percentiles":
        return Percentiles(self.p50 + other.p50, self.p99 + other.p99)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a load. `added`: from the upstream to the client; `first` and `total`: from the request."""

    streams: int
    failed: int
    events: int
    wall: float
    added: Percentiles
    first: Percentiles
    total: Percentiles

    def __add__(self, other: "Outcome") -> "Outcome":
        """Return the result of two steps of a run as one: counts and times are added."""
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
    """Parse the client's result. A stream with fewer than `stamps` events counts as failed."""
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
