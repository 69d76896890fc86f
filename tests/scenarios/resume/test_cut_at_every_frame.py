"""Resuming after any cut, in memory, on disk or after a restart, gives the same bytes (E11)."""

from contextlib import ExitStack
from typing import Any

import pytest

from tests.scenarios.resume.conftest import StartApp
from tests.scenarios.resume.restartable_app import (
    LOOPS,
    TOOL_RUN,
    RestartableApp,
    Subscriber,
    ended,
    last_id,
    pieces_of,
    subscribe,
)
from tests.support.running_app import RunningApp
from tests.support.stream_reader import check_stream, parse_stream

WAYS = ("Last-Event-ID", "after", "POST")


def resuming(app: RunningApp, way: str, run_id: str, seen: int) -> tuple[str, str, dict[str, Any]]:
    """Return the request of a client that resumes after this many events."""
    named = {"headers": {"last-event-id": f"{run_id}:{seen}"}}
    if way == "POST":
        return "POST", "/api/chat/stream", {"content": b'{"the body": "is not read"}', **named}
    if way == "after":
        return "GET", f"/api/runs/{run_id}/events?after={seen}", {}
    return "GET", f"/api/runs/{run_id}/events", named


def joined(app: RunningApp, run_id: str, whole: bytes) -> None:
    """Check that a finished run gives the rest of its stream after every frame, in every way."""
    pieces = parse_stream(whole).pieces
    seqs = [0, *parse_stream(whole).seqs]
    for cut in range(len(pieces)):
        for way in WAYS:
            method, path, given = resuming(app, way, run_id, seqs[cut])
            response = app.client.request(method, path, **given)
            assert response.status_code == 200
            assert response.headers["x-run-id"] == run_id
            assert b"".join(pieces[:cut]) + response.content == whole, (way, cut)
    for way in WAYS:
        method, path, given = resuming(app, way, run_id, seqs[-1])
        assert app.client.request(method, path, **given).status_code == 204


@pytest.mark.parametrize("loop", LOOPS)
def test_every_frame_of_a_live_run(stage: StartApp, loop: str) -> None:
    """While the run continues, a client can resume after every frame and receives the same bytes as others."""
    playing = stage(*TOOL_RUN, loop=loop)
    with ExitStack() as stack, playing.asking() as first:
        said = first.until(b'"tool_result"') if loop == "legacy" else first.until(b"is ")
        seen, run_id = pieces_of(said), first.run_id
        resumed: list[tuple[bytes, Subscriber]] = []
        for cut in range(len(seen) + 1):
            with subscribe(playing.app, "GET", f"/api/runs/{run_id}/events") as before:
                had = b"".join(before.frames(cut))
            for way in WAYS:
                method, path, given = resuming(playing.app, way, run_id, cut)
                resumed.append((had, stack.enter_context(subscribe(playing.app, method, path, **given))))
        playing.upstream.opened.set()
        whole = ended(first.rest(), "complete")
        assert {had + subscriber.rest() for had, subscriber in resumed} == {whole}
    assert len(resumed) >= 12
    assert len(playing.upstream.asked) == 2
    assert playing.runs() == 1


@pytest.mark.parametrize("loop", LOOPS)
def test_every_frame_from_disk_and_after_a_restart(stage: StartApp, loop: str) -> None:
    """A finished run is read from disk; a new process on the same folder gives the same bytes."""
    playing = stage(*TOOL_RUN, loop=loop)
    playing.upstream.opened.set()
    first = playing.post()
    run_id, whole = first.headers["x-run-id"], ended(first.content, "complete")
    app = playing.app
    app.within(app.parts.runs.store.flush())
    assert app.call(lambda: app.parts.runs.live(run_id)) is None
    joined(app, run_id, whole)
    joined(playing.restart(), run_id, whole)
    assert len(playing.upstream.asked) == 2


def test_a_restart_in_mid_stream(stage: StartApp) -> None:
    """A restart ends the run; the frames before it and those after a resume form one valid stream."""
    playing = stage(*TOOL_RUN)
    with playing.asking() as first:
        seen, run_id = pieces_of(first.until(b"is ")), first.run_id
    app = playing.restart()
    rest = app.client.get(f"/api/runs/{run_id}/events", headers={"last-event-id": last_id(seen, run_id)})
    done = check_stream(b"".join(seen) + rest.content).done
    assert (done["status"], done["code"]) == ("interrupted", "SERVER_SHUTDOWN")
    joined(app, run_id, b"".join(seen) + rest.content)


def half_frames(whole: bytes) -> list[int]:
    """Return cuts around every frame's border and in the middle of frames."""
    cuts: set[int] = set()
    at = 0
    for piece in parse_stream(whole).pieces:
        cuts |= {at + 1, at + len(piece) // 2, at + len(piece) - 1}
        at += len(piece)
    return sorted(cuts)


def test_a_cut_inside_a_frame(stage: StartApp) -> None:
    """A client resumes after its last complete frame and receives the cut one again, once."""
    playing = stage(*TOOL_RUN)
    playing.upstream.opened.set()
    first = playing.post()
    run_id, whole = first.headers["x-run-id"], first.content
    for cut in half_frames(whole):
        kept = pieces_of(whole[:cut])
        rest = playing.post(b"", last_event_id=last_id(kept, run_id))
        assert b"".join(kept) + rest.content == whole, cut


def test_a_cursor_far_above_a_live_run(stage: StartApp) -> None:
    """A client with a cursor above the last event receives new events, in every way, and no silence."""
    playing = stage(*TOOL_RUN)
    with playing.asking() as first:
        first.until(b"is ")
        so_far = len(pieces_of(first.seen))
        with ExitStack() as stack:
            ahead = [
                stack.enter_context(subscribe(playing.app, method, path, **given))
                for method, path, given in (resuming(playing.app, way, first.run_id, 10**15) for way in WAYS)
            ]
            playing.upstream.opened.set()
            follows = b"".join(parse_stream(first.rest()).pieces[so_far:])
            assert [subscriber.rest() for subscriber in ahead] == [follows] * len(WAYS)
    assert playing.post(b"", last_event_id=f"{first.run_id}:{10**15}").status_code == 204


def test_a_run_that_a_crash_took_the_beginning_of(stage: StartApp) -> None:
    """From 0, the first frame has the version although its number is far above 1; lower cursors work."""
    playing = stage(*TOOL_RUN)
    playing.upstream.opened.set()
    run_id = playing.post().headers["x-run-id"]
    _lose_the_journal(playing, run_id)
    app = playing.restart()
    whole = app.client.get(f"/api/runs/{run_id}/events")
    heard = check_stream(whole.content)
    assert (heard.done["code"], heard.seqs[0]) == ("SERVER_CRASH", 1_000_001)
    assert heard.events[0]["run_id"] == run_id == whole.headers["x-run-id"]
    joined(app, run_id, whole.content)
    for seen in (3, 1_000_000):
        rest = parse_stream(app.client.get(f"/api/runs/{run_id}/events?after={seen}").content)
        assert rest.seqs == heard.seqs
        assert "run_id" not in rest.events[0]


def _lose_the_journal(playing: RestartableApp, run_id: str) -> None:
    """Leave the disk as a crash right after the start of a run does."""
    database = playing.app.parts.runs.store._database  # type: ignore[attr-defined]

    def lose(connection: object) -> None:
        for statement in (
            f"DELETE FROM journal WHERE run_id = '{run_id}'",
            f"UPDATE runs SET status = NULL, ended = NULL, code = NULL, seq = 0 WHERE id = '{run_id}'",
        ):
            connection.exec_driver_sql(statement)  # type: ignore[attr-defined]

    playing.app.within(playing.app.parts.runs.store.flush())
    playing.app.within(database.write(lose))
