"""Polling a run (`follow=false`): the events so far, without influence on the end of the run."""

import asyncio
from time import monotonic

import httpx
import pytest
from signalbox.runs.run import Run

from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp, error_of, read_until
from tests.support.scripted_upstream import holds, waits
from tests.support.stream_reader import check_stream, parse_stream

GOES_ON = {"tools": [], "on_disconnect": "continue"}
STOPS = {"tools": [], "on_disconnect": "stop"}


def look(app: RunningApp, run_id: str, after: int = 0) -> httpx.Response:
    """Read the events after a cursor once."""
    response = app.client.get(f"/api/runs/{run_id}/events", params={"after": after, "follow": "false"})
    assert response.status_code == 204 or response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["x-run-id"] == run_id
    return response


def deadline(app: RunningApp, run: Run) -> float | None:
    """Return the deadline of a run without subscribers; None while it has one."""
    return app.call(lambda: run.detached_timer.when() if run.detached_timer is not None else None)


def left_alone(app: RunningApp, run: Run) -> None:
    """Wait until the app has noticed that no subscriber is left."""

    async def noticed() -> None:
        async with asyncio.timeout(WAIT):
            while run.detached_timer is None:  # noqa: ASYNC110 - a timer that is set wakes no task
                await asyncio.sleep(0)

    app.within(noticed())


def test_polls_bring_the_run_piece_by_piece(start_app: StartApp) -> None:
    """Each poll ends immediately; together they equal the stream byte for byte, and the last is empty."""
    app, upstream = start_app(waits)
    with app.asking(**GOES_ON) as response:
        chunks, run_id = response.iter_raw(), response.headers["x-run-id"]
        seen = read_until(chunks, b"First ")
        first = look(app, run_id)
        assert first.content == seen
        assert f'"v":"1.1","run_id":"{run_id}","loop":"v2"' in first.text
        last = len(parse_stream(seen).ids)
        nothing_new = look(app, run_id, last)
        assert (nothing_new.status_code, nothing_new.content) == (200, b"")
        assert look(app, run_id, 10**6).content == b""
        upstream.opened.set()
        whole = seen + b"".join(chunks)
    rest = look(app, run_id, last)
    assert first.content + rest.content == whole
    assert check_stream(whole).text == "First second."
    assert look(app, run_id, len(parse_stream(whole).ids)).status_code == 204


def test_polls_of_a_run_that_is_over(app: RunningApp) -> None:
    """From disk it is the same, and the header takes precedence here too."""
    response = app.post(prompt="What is the tool loop of Signalbox?")
    run_id, whole = response.headers["x-run-id"], response.content
    assert look(app, run_id).content == whole
    pieces = parse_stream(whole).pieces
    headers = {"last-event-id": f"{run_id}:3"}
    rest = app.client.get(f"/api/runs/{run_id}/events?after=1&follow=false", headers=headers)
    assert rest.content == b"".join(pieces[3:])


def test_a_poll_begins_the_time_of_a_run_anew(start_app: StartApp) -> None:
    """Polling keeps a run with `continue` alive."""
    app, _ = start_app(holds, settings={"signalbox_detached_seconds": 60})
    with app.asking(**GOES_ON) as response:
        chunks = response.iter_raw()
        read_until(chunks, b"So far")
        run = app.run(response.headers["x-run-id"])
        look(app, run.id)
        assert deadline(app, run) is None, "while somebody reads it no time runs"
    left_alone(app, run)
    before = deadline(app, run)
    ticked = monotonic() + 0.002
    while monotonic() < ticked:  # the loop's clock counts milliseconds, and a look takes less than one
        pass
    assert b"So far" in look(app, run.id).content
    after = deadline(app, run)
    assert before is not None
    assert after is not None
    assert after > before
    assert (run.is_over, run.subscribers, app.parts.streams.open) == (False, 0, 0)


def test_between_two_polls_a_run_lives_whatever_its_time_is(start_app: StartApp) -> None:
    """A timeout of one second does not end a run that is polled each second."""
    app, _ = start_app(holds, settings={"signalbox_detached_seconds": 1})
    with app.asking(**GOES_ON) as response:
        chunks = response.iter_raw()
        read_until(chunks, b"So far")
        run = app.run(response.headers["x-run-id"])
    left_alone(app, run)
    before = deadline(app, run)
    look(app, run.id)
    after = deadline(app, run)
    assert before is not None
    assert after is not None
    assert after - before > 20


def test_the_end_of_a_poll_stops_nothing(start_app: StartApp) -> None:
    """A run with `stop` does not end after a poll, but ends after its last subscriber."""
    app, upstream = start_app(holds)
    with app.asking(**STOPS) as response:
        chunks = response.iter_raw()
        read_until(chunks, b"So far")
        run = app.run(response.headers["x-run-id"])
        for _ in range(3):
            assert b"So far" in look(app, run.id).content
        assert (run.is_over, run.subscribers, upstream.left) == (False, 1, [])
    app.over(run.id)
    assert check_stream(look(app, run.id).content).done["status"] == "cancelled"


@pytest.mark.parametrize("follow", ["", "perhaps", "2"])
def test_follow_must_be_a_boolean(app: RunningApp, follow: str) -> None:
    """`follow` is true or false."""
    run_id = app.post(prompt="Hello!").headers["x-run-id"]
    refused = app.client.get(f"/api/runs/{run_id}/events?follow={follow}")
    assert (refused.status_code, error_of(refused)["field"]) == (422, "follow")
