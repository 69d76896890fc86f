"""Listeners to runs are called in order, and their observers are attached to the run."""

from typing import Any, cast

from signalbox.chat.observer import IGNORE, RunObserver
from signalbox.core.records import RunRecord
from signalbox.runs.listeners import RunListeners
from signalbox.runs.run import Run

from tests.support.loop_runs import context_for


class Listener:
    """Records what it is told; observes runs if it has an observer."""

    def __init__(self, told: list[str], name: str, observer: RunObserver | None = None) -> None:
        self.told, self.name, self.observer = told, name, observer

    def started(self, run: Run) -> RunObserver | None:
        self.told.append(f"{self.name} started")
        return self.observer

    def over(self, run: Run) -> None:
        self.told.append(f"{self.name} over")

    def recovered(self, record: RunRecord) -> None:
        self.told.append(f"{self.name} recovered")


class FakeRun:
    """A run as far as listeners see it here."""

    def __init__(self) -> None:
        self.context = context_for()


def test_each_listener_is_told() -> None:
    """The log comes first, then metrics and traces."""
    told: list[str] = []
    observer = RunObserver()
    listeners = RunListeners([Listener(told, "log"), Listener(told, "traces", observer)])
    run = FakeRun()
    listeners.started(cast(Run, run))
    listeners.over(cast(Run, run))
    listeners.recovered(cast(Any, None))
    assert told == [f"{name} {what}" for what in ("started", "over", "recovered") for name in ("log", "traces")]
    assert run.context.observer is observer


def test_a_run_without_observers_is_not_observed() -> None:
    """The path of a run costs nothing more then."""
    run = FakeRun()
    RunListeners([Listener([], "log")]).started(cast(Run, run))
    assert run.context.observer is IGNORE
