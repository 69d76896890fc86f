"""The list of runs page by page, and deletion of a run."""

from pathlib import Path

import pytest

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, read_until, settings_for
from tests.support.scripted_upstream import ScriptedUpstream, holds, says

SECRET, ANSWER = "Where is the amber room?", "No-one-knows-where-the-amber-room-is."


def bytes_of(folder: Path) -> bytes:
    """Return the bytes of the database file and its write-ahead log."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("signalbox.db*")))


def test_pages_of_runs_hold_each_run_once(start_app: StartApp) -> None:
    """Pages go from newest to oldest; a run that starts meanwhile moves nothing."""
    app, _ = start_app(says("Yes."))
    asked = [app.post(prompt="Hello!", tools=[]).headers["x-run-id"] for _ in range(5)]
    seen: list[str] = []
    following = ""
    while following is not None:
        page = app.client.get(f"/api/runs?limit=2{following and f'&before={following}'}").json()
        seen += [run["run_id"] for run in page["runs"]]
        following = page["next"]
        app.post(prompt="Meanwhile", tools=[])
        app.client.delete(f"/api/runs/{seen[-1]}")
    assert seen == asked[::-1]
    assert app.client.get("/api/runs?limit=200").json()["next"] is None
    assert error_of(app.client.get("/api/runs?before=x"))["field"] == "before"


def test_a_deleted_run_is_gone_from_the_disk(tmp_path: Path) -> None:
    """Neither request nor answer is left in the file or its log, and the run is unknown."""
    with ScriptedUpstream(says(ANSWER)) as upstream:
        settings = settings_for(tmp_path, openrouter_base_url=upstream.base_url)
        with RunningApp(settings) as app:
            run_id = app.post(prompt=SECRET, tools=[]).headers["x-run-id"]
            other = app.post(prompt="Stay.", tools=[]).headers["x-run-id"]
            app.within(app.parts.runs.store.flush())
            assert SECRET.encode() in bytes_of(tmp_path)
            assert app.client.delete(f"/api/runs/{run_id}").json() == {"deleted": True}
            assert SECRET.encode() not in bytes_of(tmp_path)
            assert bytes_of(tmp_path).count(ANSWER.encode()) == 1  # the other run's
            for path in ("", "/events"):
                assert error_of(app.client.get(f"/api/runs/{run_id}{path}"))["code"] == "UNKNOWN_RUN"
            assert error_of(app.client.delete(f"/api/runs/{run_id}"))["code"] == "UNKNOWN_RUN"
            assert [run["run_id"] for run in app.client.get("/api/runs").json()["runs"]] == [other]


def test_deleting_an_active_run_stops_it(start_app: StartApp) -> None:
    """Subscribers see it end, the upstream is closed, and nothing more is written."""
    app, upstream = start_app(holds)
    with app.asking(tools=[]) as response:
        chunks = response.iter_raw()
        seen = read_until(chunks, b"So far")
        assert app.client.delete(f"/api/runs/{response.headers['x-run-id']}").status_code == 200
        assert b'"status":"cancelled"' in seen + b"".join(chunks)
    assert upstream.wait_until(lambda: len(upstream.left) == 1)
    app.within(app.parts.runs.store.flush())
    assert app.client.get("/api/runs").json() == {"runs": [], "next": None, "all_owners": False}


@pytest.mark.parametrize("run_id", ["0" * 32, "x", "%ED%A0%80"])
def test_deleting_an_unknown_run_is_a_404(app: RunningApp, run_id: str) -> None:
    """An unknown run cannot be deleted."""
    assert error_of(app.client.delete(f"/api/runs/{run_id}"))["code"] == "UNKNOWN_RUN"


def test_a_run_in_a_conversation_cannot_be_deleted_alone(start_app: StartApp) -> None:
    """Later messages follow it, so the request is rejected."""
    app, _ = start_app(says("Yes."))
    run_id = app.post(prompt="Hello!", tools=[], conversation_id="c").headers["x-run-id"]
    response = app.client.delete(f"/api/runs/{run_id}")
    assert (response.status_code, error_of(response)["code"]) == (409, "RUN_IN_CONVERSATION")
    assert app.client.get(f"/api/runs/{run_id}").status_code == 200
