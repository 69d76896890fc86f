"""Subscribing to a run again: replay after a cursor, then live to the end, without gaps or duplicates."""

import threading

import pytest

from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of, read_until
from tests.support.scripted_upstream import waits
from tests.support.stream_reader import ParsedStream, check_stream, parse_stream

SEARCH = {"prompt": "What is the tool loop of Signalbox?"}


def finished(app: RunningApp) -> tuple[str, ParsedStream]:
    """Complete one run; return its id and its stream."""
    response = app.post(**SEARCH)
    return response.headers["x-run-id"], check_stream(response.content)


def test_every_cut_is_resumed_without_gap_or_duplicate(app: RunningApp) -> None:
    """After a cut anywhere, Last-Event-ID or `after` completes the stream byte for byte."""
    run_id, whole = finished(app)
    assert len(whole.pieces) > 20
    for cut in range(len(whole.pieces)):
        by_id = {"Last-Event-ID": f"{run_id}:{cut}"}
        rest = app.client.get(f"/api/runs/{run_id}/events", headers=by_id)
        assert rest.status_code == 200
        assert rest.headers["x-run-id"] == run_id
        assert rest.content == b"".join(whole.pieces[cut:])
        assert app.client.get(f"/api/runs/{run_id}/events?after={cut}").content == rest.content
        check_stream(rest.content, resumed=cut > 0)


def test_a_stream_read_to_its_end_is_a_204(app: RunningApp) -> None:
    """An EventSource stops reconnecting at 204: the run is over and completely read."""
    run_id, whole = finished(app)
    last = whole.ids[-1]
    response = app.client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": last})
    assert (response.status_code, response.content) == (204, b"")
    assert app.client.get(f"/api/runs/{run_id}/events?after={len(whole.ids)}").status_code == 204
    assert app.client.get(f"/api/runs/{run_id}/events?after={10**12}").status_code == 204


def test_last_event_id_has_priority_over_after(app: RunningApp) -> None:
    """A reconnecting EventSource repeats its URL; the header has its real position."""
    run_id, whole = finished(app)
    headers = {"Last-Event-ID": whole.ids[-2]}
    response = app.client.get(f"/api/runs/{run_id}/events?after=0", headers=headers)
    assert parse_stream(response.content).ids == whole.ids[-1:]


@pytest.mark.parametrize(
    "last", ["nonsense", "12", ":3", "{id}:", "{id}:x", "{id}:-1", "{id}:1.5", "0123:4", "{id}:²", "{id}:" + "9" * 5000]
)
def test_a_foreign_last_event_id_is_rejected(app: RunningApp, last: str) -> None:
    """An id of another run, or an invalid one, must not count as a start at 0."""
    run_id, _ = finished(app)
    value = last.replace("{id}", run_id).encode()
    response = app.client.get(f"/api/runs/{run_id}/events", headers=[(b"last-event-id", value)])
    assert (response.status_code, error_of(response)["field"]) == (422, "Last-Event-ID")


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "9" * 5000])
def test_an_invalid_cursor_is_rejected(app: RunningApp, after: str) -> None:
    """The cursor is a number from 0."""
    run_id, _ = finished(app)
    response = app.client.get(f"/api/runs/{run_id}/events?after={after}")
    assert (response.status_code, error_of(response)["field"]) == (422, "after")


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("GET", "/events"), ("POST", "/stop")])
@pytest.mark.parametrize("run_id", ["0" * 32, "x", "%ED%A0%80", "a" * 5000])
def test_an_unknown_run_is_a_404(app: RunningApp, method: str, path: str, run_id: str) -> None:
    """Unknown and deleted runs get the same error."""
    response = app.client.request(method, f"/api/runs/{run_id}{path}")
    assert (response.status_code, error_of(response)["code"]) == (404, "UNKNOWN_RUN")


def test_a_second_subscriber_sees_the_same_bytes(start_app: StartApp) -> None:
    """A subscriber that joins late reads from the start and continues; both read the same stream."""
    app, upstream = start_app(waits)
    with app.asking(tools=[]) as first:
        run_id = first.headers["x-run-id"]
        mine = first.iter_raw()
        seen = read_until(mine, b"First ")
        with app.client.stream("GET", f"/api/runs/{run_id}/events") as second:
            theirs = second.iter_raw()
            also = read_until(theirs, b"First ")
            assert app.client.get(f"/api/runs/{run_id}").json()["watchers"] == 2
            upstream.opened.set()
            also += b"".join(theirs)
        seen += b"".join(mine)
    assert seen == also
    assert check_stream(seen).text == "First second."
    assert len(upstream.asked) == 1


def test_a_cut_connection_is_resumed_during_the_run(start_app: StartApp) -> None:
    """The page reconnects with its last id, and receives every frame once (quirk E11)."""
    app, upstream = start_app(waits)
    with app.asking(tools=[], on_disconnect="continue") as first:
        run_id = first.headers["x-run-id"]
        seen = read_until(first.iter_raw(), b"First ")
    last = parse_stream(seen).ids[-1]
    with app.client.stream("GET", f"/api/runs/{run_id}/events", headers={"Last-Event-ID": last}) as again:
        upstream.opened.set()
        seen += b"".join(again.iter_raw())
    received = check_stream(seen)
    assert received.text == "First second."
    assert received.done["status"] == "complete"


def test_fifty_subscribers_see_one_stream(start_app: StartApp) -> None:
    """There is no queue per client: all read one journal to its end."""
    app, upstream = start_app(waits)
    seen: list[bytes] = []
    with app.asking(tools=[]) as first:
        run_id = first.headers["x-run-id"]
        chunks = first.iter_raw()
        mine = read_until(chunks, b"First ")

        def watch() -> None:
            seen.append(app.client.get(f"/api/runs/{run_id}/events").content)

        threads = [threading.Thread(target=watch) for _ in range(50)]
        for thread in threads:
            thread.start()
        upstream.opened.set()
        mine += b"".join(chunks)
        for thread in threads:
            thread.join()
    assert seen == [mine] * 50


def test_a_cursor_beyond_the_end_gets_what_follows(start_app: StartApp) -> None:
    """A client that saw more than a crash preserved receives the following events."""
    app, upstream = start_app(waits)
    with app.asking(tools=[]) as first:
        run_id = first.headers["x-run-id"]
        mine = first.iter_raw()
        seen = read_until(mine, b"First ")
        ahead = len(parse_stream(seen).ids) + 1
        with app.client.stream("GET", f"/api/runs/{run_id}/events?after={ahead}") as second:
            upstream.opened.set()
            rest = b"".join(second.iter_raw())
        seen += b"".join(mine)
    assert rest == b"".join(parse_stream(seen).pieces[ahead - 1 :])
