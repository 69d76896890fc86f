"""The journal in memory: the events of the runs that are remembered, gone with the process."""

from bisect import bisect_right

from signalbox.core.events import Stamped


class MemoryStore:
    """A RunStore that keeps each run's events in one list, ordered by seq."""

    def __init__(self) -> None:
        self._journals: dict[str, list[Stamped]] = {}

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Add events at the end of a run's journal."""
        self._journals.setdefault(run_id, []).extend(batch)

    def read(self, run_id: str, after: int) -> list[Stamped]:
        """Return all events with seq > after."""
        journal = self._journals.get(run_id, [])
        return journal[bisect_right(journal, after, key=_seq) :]

    def forget(self, run_id: str) -> None:
        """Drop a run's journal."""
        self._journals.pop(run_id, None)


def _seq(stamped: Stamped) -> int:
    return stamped.seq
