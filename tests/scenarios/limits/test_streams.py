"""The limit of concurrent streams, in total and per user, and every way in which a stream frees its slot."""

import asyncio
from collections.abc import AsyncGenerator

import httpx
import pytest
from signalbox.app.asgi.streaming import EventStream
from signalbox.app.limits.open_streams import Streams
from signalbox.core.errors import RequestError
from signalbox.encoders.sse_v1 import SseV1Encoder
from starlette.types import Message

from tests.scenarios.limits.conftest import Among
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import holds, says
from tests.support.stream_reader import parse_stream

ANNA, BERT = {"x-user": "anna"}, {"x-user": "bert"}
GOES_ON = {"on_disconnect": "continue", "tools": []}


def post(app: RunningApp, user: dict[str, str]) -> httpx.Response:
    """Send a question, and read the answer to its end."""
    return app.client.post("/api/chat/stream", json={"model": "openai/sim", "prompt": "Hi", **GOES_ON}, headers=user)


def follow(app: RunningApp, run_id: str, user: dict[str, str]) -> httpx.Response:
    """Poll a run."""
    return app.client.get(f"/api/runs/{run_id}/events?follow=false", headers=user)


def refused(response: httpx.Response) -> tuple[int, str, str]:
    """Return status and code of a rejected request."""
    return response.status_code, error_of(response)["code"], response.headers["retry-after"]


def test_a_user_has_so_many_streams(among: Among) -> None:
    """One more is a 429 on every endpoint; other users and clients without a token are not affected."""
    app, _ = among(says("Hello."), signalbox_max_streams_per_user=2)
    run_id = post(app, ANNA).headers["x-run-id"]
    slots = app.call(lambda: [app.parts.streams.acquire("anna") for _ in range(2)])
    assert refused(post(app, ANNA)) == (429, "TOO_MANY_STREAMS", "2")
    assert refused(follow(app, run_id, ANNA)) == (429, "TOO_MANY_STREAMS", "2")
    assert post(app, BERT).status_code == 200
    unowned = app.call(lambda: [app.parts.streams.acquire("") for _ in range(3)])
    assert post(app, {}).status_code == 200
    app.call(unowned[0].release)
    app.call(slots[0].release)
    assert follow(app, run_id, ANNA).status_code == 200


def test_by_default_a_user_has_as_many_as_there_are(among: Among) -> None:
    """Without the setting only the limit of the server applies, as a 503."""
    app, _ = among(says("Hello."))
    slots = app.call(lambda: [app.parts.streams.acquire("anna") for _ in range(3_999)])
    assert post(app, ANNA).status_code == 200
    slots.append(app.call(lambda: app.parts.streams.acquire("bert")))
    assert refused(post(app, ANNA)) == (503, "TOO_MANY_STREAMS", "2")


def test_a_save_that_is_replayed_is_a_stream(among: Among) -> None:
    """The stream of a save counts like that of a run."""
    app, _ = among(says("Hello."), signalbox_max_streams_per_user=1)
    saved = app.client.post("/api/saves", json={"run_id": post(app, ANNA).headers["x-run-id"]}, headers=ANNA).json()
    url = f"/api/saves/{saved['id']}/events"
    slot = app.call(lambda: app.parts.streams.acquire("anna"))
    assert refused(app.client.get(url, headers=ANNA)) == (429, "TOO_MANY_STREAMS", "2")
    app.call(slot.release)
    assert parse_stream(app.client.get(url, headers=ANNA).content).done["status"] == "complete"
    assert app.call(lambda: app.parts.streams.open) == 0


def test_every_end_makes_room(among: Among) -> None:
    """A stream that was read, stopped, left or rejected releases its slot before the next request."""
    app, _ = among(says("Hello."), holds, says("Hello."), signalbox_max_streams=1)
    run_id = post(app, ANNA).headers["x-run-id"]
    with app.asking() as held:
        pieces = held.iter_raw()
        next(pieces)
        assert refused(post(app, ANNA))[0] == 503
        run = app.run(held.headers["x-run-id"])
    app.over(run.id)  # the client disconnected
    for wrong in ({"model": "openai/sim"}, {"model": "openai/sim", "prompt": "Hi", "tools": ["unknown"]}):
        assert app.client.post("/api/chat/stream", json=wrong).status_code == 422
    assert app.client.get(f"/api/runs/{run_id}/events?after=100000", headers=ANNA).status_code == 204
    for _ in range(20):
        assert post(app, BERT).status_code == 200
    assert app.call(lambda: app.parts.streams.open) == 0


def test_a_refused_stream_starts_no_run(among: Among) -> None:
    """No upstream request is sent, and nothing is stored."""
    app, upstream = among(says("Hello."), signalbox_max_streams_per_user=1)
    slot = app.call(lambda: app.parts.streams.acquire("anna"))
    asked = {"model": "openai/sim", "prompt": "Hi", "conversation_id": "c1"}
    assert app.client.post("/api/chat/stream", json=asked, headers=ANNA).status_code == 429
    assert (upstream.asked, app.client.get("/api/runs").json()["runs"]) == ([], [])
    app.call(slot.release)


def test_a_slot_is_released_once() -> None:
    """A second release does not free another client's slot."""
    streams = Streams(most=10, most_per_user=1)
    first = streams.acquire("anna")
    first.release()
    second = streams.acquire("anna")
    first.release()
    assert streams.open == 1
    with pytest.raises(RequestError, match="each user may have 1"):
        streams.acquire("anna")
    with pytest.raises(ZeroDivisionError), second:
        _ = 1 / 0
    assert streams.open == 0


@pytest.mark.anyio
async def test_a_slot_is_released_before_the_end_is_sent() -> None:
    """A client that has read the end can open the next stream immediately."""
    streams = Streams(most=1)
    told: list[tuple[bytes | None, int]] = []

    async def body() -> AsyncGenerator[bytes, None]:
        yield b"all"

    async def send(message: Message) -> None:
        told.append((message.get("body"), streams.open))

    async def receive() -> Message:
        await asyncio.Event().wait()
        return {}

    await EventStream(SseV1Encoder, body(), {}, streams.acquire("anna").release)({"type": "http"}, receive, send)
    assert told == [(None, 1), (b"all", 1), (b"", 0)]
