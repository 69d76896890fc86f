"""Pings of a stream: only after a silent interval, and at most one waiting."""

import asyncio

import pytest
from signalbox.app.asgi import streaming
from signalbox.encoders.sse_v1 import SseV1Encoder

from tests.unit.app.asgi.staged_stream import Stage, turns

pytestmark = pytest.mark.anyio


class Clock:
    """A clock in seconds that the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of streams."""
    clock = Clock()
    monkeypatch.setattr(streaming, "monotonic", clock)
    return clock


async def looks(stage: Stage) -> None:
    """Fire the timer of pings, and run the event loop."""
    stage.stream._ping(stage.client.send)
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_active_stream_is_not_pinged(clock: Clock) -> None:
    """Pushed bytes postpone a ping; after a full silent interval there is one."""
    stage = await Stage().open()
    clock.now += 10
    stage.stream.push(b"one")
    clock.now += 10
    await looks(stage)
    assert stage.client.bodies == [b"one"]
    clock.now += 5
    await looks(stage)
    await looks(stage)
    assert await stage.end() == [b"one", SseV1Encoder.ping, b""]


async def test_a_blocked_client_is_pinged_once(clock: Clock) -> None:
    """Pings do not accumulate while a client reads nothing."""
    stage = await Stage().open()
    stage.client.room.clear()
    for _ in range(3):
        clock.now += 20
        await looks(stage)
    stage.client.room.set()
    await turns(lambda: stage.client.bodies)
    assert await stage.end() == [SseV1Encoder.ping, b""]


async def test_no_ping_follows_the_end(clock: Clock) -> None:
    """No ping is sent after the end, even if a slow client blocks the end."""
    stage = await Stage().open()
    stage.client.room.clear()
    stage.items.put_nowait(None)
    await turns(lambda: stage.closed)
    assert stage.stream._timer is not None
    assert stage.stream._timer.cancelled()
    stage.client.room.set()
    await asyncio.wait_for(stage.task, 30)
    assert stage.client.bodies == [b""]


async def test_a_failed_ping_ends_its_stream(clock: Clock) -> None:
    """The error is raised in the stream's task, like that of any other write."""
    stage = await Stage().open()
    stage.client.error = OSError("gone")
    clock.now += 20
    await looks(stage)
    assert not stage.stream.is_free
    stage.items.put_nowait(b"one")
    with pytest.raises(OSError, match="gone"):
        await asyncio.wait_for(stage.task, 30)
