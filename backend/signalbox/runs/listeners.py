"""Listeners to the starts and ends of all runs: the log, metrics, traces. They may observe a run in between."""

from collections.abc import Sequence
from typing import Protocol

from signalbox.chat.observer import RunObserver, combined
from signalbox.core.records import RunRecord
from signalbox.runs.run import Run


class RunListener(Protocol):
    """Listens to the runs of this process. The methods return at once and must not raise."""

    def started(self, run: Run) -> RunObserver | None:
        """A run is about to start; return an observer of its attempts and tool calls, or None."""
        ...

    def over(self, run: Run) -> None:
        """A run has ended; its figures are complete, except for costs that are fetched later."""
        ...

    def recovered(self, record: RunRecord) -> None:
        """A run that a crash interrupted was ended by this process."""
        ...


class RunListeners:
    """Several listeners as one, in this order."""

    def __init__(self, listeners: Sequence[RunListener]) -> None:
        self._listeners = listeners

    def started(self, run: Run) -> None:
        """Tell the listeners of a start, before the first step of the run, and attach their observers."""
        observers = [one.started(run) for one in self._listeners]
        run.context.observer = combined([one for one in observers if one is not None])

    def over(self, run: Run) -> None:
        """Tell the listeners of an end."""
        for one in self._listeners:
            one.over(run)

    def recovered(self, record: RunRecord) -> None:
        """Tell the listeners of the end of a run that a crash interrupted."""
        for one in self._listeners:
            one.recovered(record)
