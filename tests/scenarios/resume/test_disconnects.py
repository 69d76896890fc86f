"""Disconnects: `stop` ends a run with its last subscriber, `continue` lets it run for a limited time."""

import threading
import time

import pytest
from signalbox.runs.run import Run

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import LOOPS, QUESTION, RestartableApp, ended, subscribe
from tests.support.running_app import WAIT
from tests.support.scripted_upstream import holds, waits
from tests.support.stream_reader import check_stream

STOPS = {**QUESTION, "on_disconnect": "stop", "tools": []}
GOES_ON = {**QUESTION, "tools": []}


def left_by_all_but(playing: RestartableApp, run_id: str, count: int) -> None:
    """Poll the app until a run has this many subscribers: closing a connection takes effect later."""
    given_up = time.monotonic() + WAIT
    while playing.app.client.get(f"/api/runs/{run_id}").json()["watchers"] != count:
        assert time.monotonic() < given_up


@pytest.mark.parametrize("stays", ["who asked", "who follows"])
def test_the_last_of_two_ends_it(stage: StartApp, stays: str) -> None:
    """The first disconnect ends nothing; the second ends the run and its upstream request."""
    playing = stage(holds)
    with playing.asking(STOPS) as asker:
        asker.until(b"So far")
        run_id = asker.run_id
        with subscribe(playing.app, "GET", f"/api/runs/{run_id}/events") as follower:
            follower.until(b"So far")
            (follower if stays == "who asked" else asker).response.close()
            left_by_all_but(playing, run_id, 1)
            assert playing.app.client.get(f"/api/runs/{run_id}").json()["status"] == "running"
            assert playing.upstream.left == []
    assert playing.upstream.wait_until(lambda: len(playing.upstream.left) == 1, 1.0)
    playing.app.over(run_id)
    assert check_stream(ended(playing.events(run_id), "cancelled")).text == "So far"


@pytest.mark.parametrize("loop", LOOPS)
def test_its_time_runs_out(stage: StartApp, loop: str) -> None:
    """If no client returns, the upstream is closed, the run is interrupted, and its text is stored."""
    playing = stage(holds, loop=loop, settings={"signalbox_detached_seconds": 0.05})
    with playing.asking(GOES_ON) as first:
        first.until(b"So far")
    assert playing.upstream.wait_until(lambda: len(playing.upstream.left) == 1)
    playing.app.over(first.run_id)
    heard = check_stream(ended(playing.events(first.run_id), "interrupted"))
    assert (heard.done["code"], heard.text) == ("DETACHED_TIMEOUT", "So far")


def test_its_time_begins_with_the_last_of_two(stage: StartApp) -> None:
    """The time starts when the last subscriber disconnects."""
    playing = stage(holds, settings={"signalbox_detached_seconds": 0.05})
    with playing.asking(GOES_ON) as first:
        first.until(b"So far")
        with subscribe(playing.app, "GET", f"/api/runs/{first.run_id}/events") as second:
            second.until(b"So far")
            first.response.close()
            left_by_all_but(playing, first.run_id, 1)
            run = playing.app.run(first.run_id)
            assert playing.app.call(lambda: run.detached_timer) is None
    playing.app.over(first.run_id)
    ended(playing.events(first.run_id), "interrupted")


@pytest.mark.parametrize("comes_back", ["by GET", "by POST", "by its key"])
def test_a_client_that_returns_in_time_keeps_the_run(stage: StartApp, comes_back: str) -> None:
    """A client that returns in time keeps the run; the time starts anew when it disconnects again."""
    playing = stage(waits, settings={"signalbox_detached_seconds": 60})
    with playing.asking(GOES_ON, idempotency_key="k") as first:
        first.until(b"First ")
    left_by_all_but(playing, first.run_id, 0)
    run = playing.app.run(first.run_id)
    assert playing.app.call(lambda: run.detached_timer) is not None
    method, path = (
        ("GET", f"/api/runs/{first.run_id}/events") if comes_back == "by GET" else ("POST", "/api/chat/stream")
    )
    headers = {"idempotency-key": "k"} if comes_back == "by its key" else {"last-event-id": f"{first.run_id}:0"}
    with subscribe(playing.app, method, path, headers=headers, json=GOES_ON) as again:
        again.until(b"First ")
        assert playing.app.call(lambda: run.detached_timer) is None
        playing.upstream.opened.set()
        assert check_stream(ended(again.rest(), "complete")).text == "First second."
    assert len(playing.upstream.asked) == 1


def test_no_grace_period_still_waits_for_the_first_subscriber(stage: StartApp) -> None:
    """With 0 seconds, a run ends on its disconnect, but not before its client has read the first byte."""
    playing = stage(waits, settings={"signalbox_detached_seconds": 0})
    with playing.asking(GOES_ON) as first:
        first.until(b"First ")
        playing.upstream.opened.set()
        ended(first.rest(), "complete")
    playing.upstream.opened.clear()
    with playing.asking(GOES_ON) as second:
        second.until(b"First ")
    playing.app.over(second.run_id)
    assert check_stream(ended(playing.events(second.run_id), "interrupted")).done["code"] == "DETACHED_TIMEOUT"


def test_a_run_that_was_left_ends_well_by_itself(stage: StartApp) -> None:
    """With `continue`, the answer completes and can be read later, also after a restart."""
    playing = stage(waits)
    over = threading.Event()
    told = playing.app.parts.runs.on_over

    def announce_end(run: Run) -> None:
        if told is not None:
            told(run)
        over.set()

    playing.app.parts.runs.on_over = announce_end
    with playing.asking(GOES_ON) as first:
        first.until(b"First ")
    left_by_all_but(playing, first.run_id, 0)
    playing.upstream.opened.set()
    assert over.wait(WAIT)
    whole = ended(playing.events(first.run_id), "complete")
    playing.restart()
    assert playing.events(first.run_id) == whole
    assert check_stream(whole).text == "First second."
