"""Snapshots of runs."""

from typing import Any, TypedDict

from signalbox_client.bodies.runs import RunTrace


class SaveSummary(TypedDict):
    """A saved run in the list of saves."""

    id: str
    title: str
    created: float
    run_id: str
    model: str
    status: str


class Save(SaveSummary):
    """A snapshot of a run. `earlier` contains the earlier runs that the saved run continued."""

    question: dict[str, Any]
    trace: RunTrace
    data: dict[str, Any]
    events: list[dict[str, Any]]
    earlier: list[dict[str, Any]]
