"""Variants stop, fail, continue and are resumed independently of each other."""

import asyncio
import json
import socket
import threading
from typing import Any

import pytest
from signalbox.app.asgi.streaming import until_disconnect
from signalbox.app.routers import variants as router
from signalbox.app.variants import start as starting
from starlette.types import Receive

from tests.scenarios.resume.conftest import StartApp as StartRestartable
from tests.scenarios.resume.conftest import stage as stage  # noqa: PLC0414 - a fixture
from tests.scenarios.resume.restartable_app import LOOPS, last_id, subscribe
from tests.scenarios.variants.variants_client import (
    CONVERSATION,
    FOUR,
    PATH,
    answer_of,
    body_of,
    by_model,
    nodes,
    run_ids,
    start,
    statuses,
)
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT, RunningApp
from tests.support.scripted_upstream import Exchange, ScriptedUpstream, holds, says, waits
from tests.support.stream_reader import check_stream

# How long a disconnect may take to reach the upstream.
A_SECOND = 1.0


async def fails(exchange: Exchange) -> None:
    """Reject the request."""
    await exchange.whole(400, b'{"error":{"code":400,"message":"No."}}')


def all_asked(upstream: ScriptedUpstream) -> None:
    """Wait until the upstream has the requests of all four variants."""
    assert upstream.wait_until(lambda: len(upstream.asked) == len(FOUR))


def statuses_of(app: RunningApp, ids: list[str]) -> list[str]:
    """Return the status of each run."""
    return [app.client.get(f"/api/runs/{run_id}").json()["status"] for run_id in ids]


def send_alone(app: RunningApp, body: dict[str, Any]) -> socket.socket:
    """Send a request on a separate connection without reading the response."""
    raw = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", app.port))
    connection.sendall(b"POST %b HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n" % (PATH.encode(), len(raw)))
    connection.sendall(raw)
    return connection


@pytest.mark.parametrize("loop", LOOPS)
def test_sc23_one_is_stopped_and_the_others_run_on(stage: StartRestartable, loop: str) -> None:
    """Stopping a variant closes its upstream request alone; the others complete."""
    playing = stage(by_model({"openai/b": holds}, waits), loop=loop)
    started = start(playing.app, *FOUR, on_disconnect="continue")
    ids = run_ids(started)
    all_asked(playing.upstream)
    assert playing.stop(ids[1])["status"] == "cancelled"
    assert playing.upstream.wait_until(lambda: len(playing.upstream.left) == 1, A_SECOND)
    assert playing.upstream.left[0].body["model"] == "openai/b"
    assert sorted(statuses(playing.app).values()) == ["cancelled", "running", "running", "running"]
    playing.upstream.opened.set()
    heard = [answer_of(playing.app, run_id) for run_id in ids]
    assert [one.done["status"] for one in heard] == ["complete", "cancelled", "complete", "complete"]
    assert len(playing.upstream.left) == 1


@pytest.mark.parametrize("loop", LOOPS)
def test_sc23_one_fails_and_the_others_complete(stage: StartRestartable, loop: str) -> None:
    """An error of one model is the ending of its run alone."""
    playing = stage(by_model({"openai/c": fails}, says("Hello.")), loop=loop)
    ids = run_ids(start(playing.app, *FOUR))
    heard = {model: answer_of(playing.app, run_id) for model, run_id in zip(FOUR, ids, strict=True)}
    assert {model: one.done["status"] for model, one in heard.items()} == {
        "openai/a": "complete",
        "openai/b": "complete",
        "openai/c": "error",
        "openai/d": "complete",
    }


@pytest.mark.parametrize("loop", LOOPS)
def test_sc24_leaving_ends_every_upstream_call_within_a_second(stage: StartRestartable, loop: str) -> None:
    """A client that closes its four streams closes four upstream requests, and no further request is sent."""
    playing = stage(holds, loop=loop)
    ids = run_ids(start(playing.app, *FOUR))
    all_asked(playing.upstream)
    subscribers = [subscribe(playing.app, "GET", f"/api/runs/{run_id}/events") for run_id in ids]
    opened = [one.__enter__() for one in subscribers]
    assert playing.upstream.left == []
    for one in opened:
        one.response.close()
    assert playing.upstream.wait_until(lambda: len(playing.upstream.left) == len(FOUR), A_SECOND)
    for one in subscribers:
        one.__exit__(None, None, None)
    for run_id in ids:
        playing.app.over(run_id)
    assert set(statuses(playing.app).values()) == {"cancelled"}
    assert len(playing.upstream.asked) == len(FOUR)


@pytest.mark.parametrize("loop", LOOPS)
def test_sc24_with_continue_they_go_on_without_a_client(stage: StartRestartable, loop: str) -> None:
    """Detached variants complete after their client has left, and can be read later."""
    playing = stage(waits, loop=loop)
    ids = run_ids(start(playing.app, *FOUR, on_disconnect="continue"))
    all_asked(playing.upstream)
    for run_id in ids:
        with subscribe(playing.app, "GET", f"/api/runs/{run_id}/events") as one:
            assert one.response.status_code == 200
    assert playing.upstream.left == []
    playing.upstream.opened.set()
    assert [answer_of(playing.app, run_id).text for run_id in ids] == ["First second."] * len(FOUR)


def test_sc24_leaving_before_the_response_ends_every_upstream_call(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs of a client that does not wait for their ids stop within a second, not after 30."""
    app, upstream = start_app(holds)
    release = asyncio.Event()

    async def held(*_: object) -> dict[str, int]:
        await release.wait()
        return {}

    monkeypatch.setattr(router, "numbers_of", held)
    connection = send_alone(app, body_of(*FOUR))
    all_asked(upstream)
    assert upstream.left == []
    connection.close()
    assert upstream.wait_until(lambda: len(upstream.left) == len(FOUR), A_SECOND)
    app.call(release.set)
    assert set(statuses(app).values()) == {"cancelled"}


def test_sc24_leaving_after_the_response_stops_all(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a client reads none of its variants, all stop long before the limit of other runs; detached ones go on."""
    monkeypatch.setattr(router, "UNREAD_SECONDS", 0.0)
    app, upstream = start_app(holds)
    detached = start(app, *FOUR, on_disconnect="continue")
    all_asked(upstream)
    started = start(app, *FOUR, parent_id=detached["parent_id"])
    for run_id in run_ids(started):
        app.over(run_id)
    assert statuses_of(app, run_ids(started)) == ["cancelled"] * len(FOUR)
    assert upstream.wait_until(lambda: len(upstream.left) == len(upstream.asked) - len(FOUR), A_SECOND)
    assert statuses_of(app, run_ids(detached)) == ["running"] * len(FOUR)


@pytest.mark.parametrize("way", ["subscribed", "polled"])
def test_sc24_reading_one_variant_keeps_the_others(start_app: StartApp, way: str) -> None:
    """A client that reads one variant is there; the others keep the time of other runs."""
    app, upstream = start_app(holds)
    ids = run_ids(start(app, *FOUR))
    all_asked(upstream)
    runs = [run for run_id in ids if (run := app.parts.runs.live(run_id)) is not None]
    if way == "polled":
        app.client.get(f"/api/runs/{ids[2]}/events", params={"follow": False})
        app.call(lambda: starting.stop_if_unread(runs))
        assert statuses_of(app, ids) == ["running"] * len(FOUR)
        return
    with subscribe(app, "GET", f"/api/runs/{ids[2]}/events"):
        app.call(lambda: starting.stop_if_unread(runs))
        assert statuses_of(app, ids) == ["running"] * len(FOUR)


def test_sc24_leaving_while_they_start_leaves_none_running(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that start after their client has left are stopped, too."""
    app, upstream = start_app(holds)
    release, store_messages = asyncio.Event(), starting.store_messages
    is_starting, has_left, over = threading.Event(), threading.Event(), threading.Semaphore(0)

    async def store_later(*given: Any) -> None:
        is_starting.set()
        await release.wait()
        await store_messages(*given)

    async def notice(receive: Receive) -> None:
        await until_disconnect(receive)
        has_left.set()

    monkeypatch.setattr(starting, "store_messages", store_later)
    monkeypatch.setattr(starting, "until_disconnect", notice)
    app.parts.runs.on_over = lambda _: over.release()
    connection = send_alone(app, body_of(*FOUR))
    assert is_starting.wait(WAIT)
    connection.close()
    assert has_left.wait(WAIT)
    app.call(release.set)
    assert all(over.acquire(timeout=WAIT) for _ in FOUR)
    assert set(statuses(app).values()) == {"cancelled"}
    assert upstream.wait_until(lambda: len(upstream.left) == len(upstream.asked), A_SECOND)


def test_sc24_with_continue_leaving_before_the_response_stops_none(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Detached variants answer although their client never read their ids."""
    app, upstream = start_app(waits)
    is_ready, release = threading.Event(), asyncio.Event()

    async def held(*_: object) -> dict[str, int]:
        is_ready.set()
        await release.wait()
        return {}

    monkeypatch.setattr(router, "numbers_of", held)
    connection = send_alone(app, body_of(*FOUR, on_disconnect="continue"))
    assert is_ready.wait(WAIT)
    all_asked(upstream)
    connection.close()
    app.call(release.set)
    upstream.opened.set()
    ids = [run["run_id"] for run in app.client.get("/api/runs").json()["runs"]]
    assert [answer_of(app, run_id).done["status"] for run_id in ids] == ["complete"] * len(FOUR)
    assert upstream.left == []


@pytest.mark.parametrize("loop", LOOPS)
def test_sc24_a_dropped_client_resumes_each_variant(stage: StartRestartable, loop: str) -> None:
    """Last-Event-ID continues each stream where it was cut. Both parts are the whole stream, also after a restart."""
    playing = stage(waits, loop=loop)
    ids = run_ids(start(playing.app, *FOUR, on_disconnect="continue"))
    all_asked(playing.upstream)
    cut: dict[str, list[bytes]] = {}
    for run_id in ids:
        with subscribe(playing.app, "GET", f"/api/runs/{run_id}/events") as one:
            cut[run_id] = one.frames(1) if loop == "v2" else []
    playing.upstream.opened.set()
    for run_id, pieces in cut.items():
        headers = {"last-event-id": last_id(pieces, run_id)}
        with subscribe(playing.app, "GET", f"/api/runs/{run_id}/events", headers=headers) as again:
            whole = b"".join(pieces) + again.rest()
        assert check_stream(whole).text == "First second."
        assert playing.events(run_id) == whole
    kept = {run_id: playing.events(run_id) for run_id in ids}
    playing.restart()
    assert {run_id: playing.events(run_id) for run_id in ids} == kept


def test_sc28_the_chosen_variant_goes_on_and_the_others_stay(stage: StartRestartable) -> None:
    """The next question follows the chosen run: its model reads that answer alone, and all four survive a restart."""
    playing = stage(by_model({model: says(f"Page of {model}.") for model in FOUR}, says("Done.")))
    started = start(playing.app, *FOUR)
    ids = run_ids(started)
    for run_id in ids:
        answer_of(playing.app, run_id)
    playing.restart()
    chosen = ids[2]
    asked = {
        "model": "openai/sim",
        "tools": [],
        "conversation_id": CONVERSATION,
        "parent_id": chosen,
        "prompt": "Make it blue.",
    }
    assert check_stream(playing.post(asked).content).text == "Done."
    sent = [message["content"] for message in playing.upstream.asked[-1].body["messages"]]
    assert sent == ["Draw a page.", "Page of openai/c.", "Make it blue."]
    question, *others = nodes(playing.app)
    answers = [node for node in others if node["parent_id"] == question["id"]]
    assert [node["text"] for node in answers] == [f"Page of {model}." for model in FOUR]
    assert [node["id"] for node in answers] == ids
    assert [node["text"] for node in others if node["parent_id"] == chosen] == ["Make it blue."]


def test_sc28_a_restart_during_the_variants_ends_each_honestly(stage: StartRestartable) -> None:
    """Each run has its text so far and one ending that says what happened; the question is not lost."""
    playing = stage(holds)
    ids = run_ids(start(playing.app, *FOUR, on_disconnect="continue"))
    all_asked(playing.upstream)
    for run_id in ids:
        with subscribe(playing.app, "GET", f"/api/runs/{run_id}/events") as one:
            one.until(b"So far")
    playing.restart()
    heard = [answer_of(playing.app, run_id) for run_id in ids]
    assert {(one.done["status"], one.done["code"], one.text) for one in heard} == {
        ("interrupted", "SERVER_SHUTDOWN", "So far")
    }
    assert len(nodes(playing.app)) == 1 + len(FOUR)
