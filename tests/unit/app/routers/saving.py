"""Save runs and read saves over HTTP."""

from typing import Any

from signalbox.store.tables import RUNS
from sqlalchemy import delete

from tests.support.running_app import RunningApp, error_of
from tests.support.stream_reader import ParsedStream


def run_with_a_tool(app: RunningApp, **body: Any) -> tuple[str, ParsedStream]:
    """Ask a question that needs two steps and a tool; return the run's id and its stream."""
    heard = app.ask("What is 17 * 23?", tools=["calculate"], **body)
    assert heard.of("tool_result")
    return heard.ids[0].partition(":")[0], heard


def save(app: RunningApp, run_id: str, **body: Any) -> dict[str, Any]:
    """Save a run; return the save's list entry."""
    response = app.client.post("/api/saves", json={"run_id": run_id, **body})
    assert response.status_code == 200, response.text
    return response.json()


def opened(app: RunningApp, save_id: str) -> dict[str, Any]:
    """Read a save."""
    response = app.client.get(f"/api/saves/{save_id}")
    assert response.status_code == 200, response.text
    return response.json()


def stream(app: RunningApp, address: str, **asked: Any) -> bytes:
    """Return the rest of a stream, which must not be empty."""
    response = app.client.get(f"{address}/events", **asked)
    assert response.status_code == 200, response.text
    return response.content


def written(app: RunningApp) -> None:
    """Wait until finished runs are on disk only."""
    app.within(app.parts.runs.store.flush())


def forget_run(app: RunningApp, run_id: str) -> None:
    """Delete a run's row and its dependent rows."""
    written(app)
    app.within(app.parts.database.write(lambda c: c.execute(delete(RUNS).where(RUNS.c.id == run_id))))
    app.within(app.parts.database.erase_deleted())
    assert error_of(app.client.get(f"/api/runs/{run_id}"))["code"] == "UNKNOWN_RUN"
