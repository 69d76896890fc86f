"""The figures of a stage for people: runs, failures, time to first token and cost, per loop and window."""

from collections import deque
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from signalbox.core.events import LoopName
from signalbox.rollout.outcomes import Outcome

Window: TypeAlias = Literal["1m", "10m", "stage"]
SECONDS: dict[Literal["1m", "10m"], float] = {"1m": 60.0, "10m": 600.0}

_BUCKET_SECONDS = 10


class Tally(Struct):
    """Counts and sums of the runs of one loop."""

    runs: int = 0
    error: int = 0
    interrupted: int = 0
    empty: int = 0
    timed: int = 0
    first_token: float = 0.0
    priced: int = 0
    cost: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count a run."""
        self.runs += 1
        self.error += outcome.error
        self.interrupted += outcome.interrupted
        self.empty += outcome.empty
        if outcome.first_token is not None:
            self.timed += 1
            self.first_token += outcome.first_token
        if outcome.cost is not None:
            self.priced += 1
            self.cost += outcome.cost

    def merge(self, other: "Tally") -> None:
        """Add the runs of another tally."""
        for name in Tally.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and the means of time to first token (milliseconds) and cost (USD)."""
        return {
            "runs": self.runs,
            "error": self.error,
            "interrupted": self.interrupted,
            "empty": self.empty,
            "first_token_ms": round(self.first_token / self.timed, 1) if self.timed else None,
            "cost": round(self.cost / self.priced, 8) if self.priced else None,
        }


def _both() -> dict[LoopName, Tally]:
    return {"v2": Tally(), "legacy": Tally()}


class Figures:
    """Tallies of the whole stage, and of buckets of ten seconds for the windows."""

    def __init__(self) -> None:
        self.stage = _both()
        self._buckets: deque[tuple[int, dict[LoopName, Tally]]] = deque()

    def add(self, outcome: Outcome) -> None:
        """Count a run. Runs arrive roughly in the order of their ends, so an older one counts in the last bucket."""
        self.stage[outcome.loop].add(outcome)
        bucket = int(outcome.ended // _BUCKET_SECONDS)
        if not self._buckets or self._buckets[-1][0] < bucket:
            self._buckets.append((bucket, _both()))
            while self._buckets[0][0] < bucket - SECONDS["10m"] / _BUCKET_SECONDS:
                self._buckets.popleft()
        self._buckets[-1][1][outcome.loop].add(outcome)

    def as_json(self, now: float) -> dict[str, Any]:
        """Return the figures per window and loop."""
        windows = {name: self._within(now - seconds) for name, seconds in SECONDS.items()}
        all_windows: dict[str, dict[LoopName, Tally]] = {**windows, "stage": self.stage}
        return {
            window: {loop: tally.as_json() for loop, tally in loops.items()} for window, loops in all_windows.items()
        }

    def _within(self, since: float) -> dict[LoopName, Tally]:
        found = _both()
        for bucket, loops in self._buckets:
            if (bucket + 1) * _BUCKET_SECONDS > since:
                for loop, tally in loops.items():
                    found[loop].merge(tally)
        return found
