"""The response of a stream: pushed bytes are sent at once and in order, for every behaviour of the client."""

import asyncio
import gc

import pytest
from signalbox.app.run_stream import _RunStream
from signalbox.chat.context import ConversationContext
from signalbox.runs.run import Run

from tests.support.running_app import RunningApp
from tests.unit.app.asgi.staged_stream import Stage, turns

pytestmark = pytest.mark.anyio


async def test_pushed_bytes_are_sent_before_push_returns() -> None:
    """No task wakes for pushed bytes, and later items of the generator follow them."""
    stage = await Stage().open()
    stage.stream.push(b"one")
    stage.stream.push(b"two")
    assert stage.client.bodies == [b"one", b"two"]
    stage.items.put_nowait(b"three")
    assert await stage.end() == [b"one", b"two", b"three", b""]
    assert stage.closed


async def test_nothing_can_be_pushed_before_the_head() -> None:
    """`is_free` is false until the headers are sent."""
    stage = Stage()
    assert not stage.stream.is_free
    await stage.open()
    await stage.end()


async def test_a_blocked_push_is_sent_before_later_items() -> None:
    """While a slow client blocks a push, the stream is not free, and the order is kept."""
    stage = await Stage().open()
    stage.client.room.clear()
    stage.stream.push(b"one")
    assert (stage.client.bodies, stage.stream.is_free) == ([], False)
    stage.items.put_nowait(b"two")
    for _ in range(5):
        await asyncio.sleep(0)
    assert stage.client.bodies == []
    stage.client.room.set()
    await turns(lambda: len(stage.client.bodies) == 2)
    assert stage.stream.is_free
    assert await stage.end() == [b"one", b"two", b""]


async def test_a_blocked_push_is_sent_before_the_end() -> None:
    """A push that is still blocked when the generator ends is not lost."""
    stage = await Stage().open()
    stage.client.room.clear()
    stage.stream.push(b"one")
    stage.items.put_nowait(None)
    for _ in range(5):
        await asyncio.sleep(0)
    stage.client.room.set()
    await asyncio.wait_for(stage.task, 30)
    assert stage.client.bodies == [b"one", b""]


async def test_the_last_bytes_are_sent_with_the_end() -> None:
    """`last` is sent in one message with the end, after all pushed bytes."""
    stage = await Stage().open()
    stage.client.room.clear()
    stage.stream.push(b"one")
    stage.stream.last = b"two"
    stage.items.put_nowait(None)
    for _ in range(5):
        await asyncio.sleep(0)
    stage.client.room.set()
    await asyncio.wait_for(stage.task, 30)
    assert stage.client.bodies == [b"one", b"two"]


async def test_a_failed_push_ends_only_its_stream() -> None:
    """The error of a push is raised in the stream's task, not to the run that pushes."""
    stage = await Stage().open()
    stage.client.error = OSError("gone")
    stage.stream.push(b"one")
    assert not stage.stream.is_free
    stage.items.put_nowait(b"two")
    with pytest.raises(OSError, match="gone"):
        await asyncio.wait_for(stage.task, 30)
    assert stage.closed


async def test_a_client_may_disconnect_during_a_blocked_push() -> None:
    """The generator is closed, and no task is left."""
    before = asyncio.all_tasks()
    stage = await Stage().open()
    stage.client.room.clear()
    stage.stream.push(b"one")
    stage.client.gone.set()
    await asyncio.wait_for(stage.task, 30)
    await turns(lambda: asyncio.all_tasks() == before)
    assert stage.closed


async def test_a_failed_direct_write_ends_only_its_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket may be closed before the server reports a disconnect."""
    stage = await Stage().open()

    def breaks(piece: bytes) -> bool:
        raise RuntimeError("closed")

    monkeypatch.setattr(stage.stream, "_write", breaks)
    stage.stream.push(b"one")
    assert not stage.stream.is_free
    stage.items.put_nowait(b"two")
    with pytest.raises(RuntimeError, match="closed"):
        await asyncio.wait_for(stage.task, 30)
    assert stage.closed


# --- what a stream leaves behind ---


def test_a_stream_leaves_no_reference_cycle(app: RunningApp) -> None:
    """Its run and request are freed without the garbage collector, which would pause all streams."""
    app.post(prompt="Hi", tools=[])  # what the first one sets up stays
    app.within(quiet(app))
    gc.collect()
    gc.disable()
    others = of_streams()  # what earlier tests of this process have left, or pytest holds
    left: list[object] = []
    try:
        app.post(prompt="Hi", tools=[])
        for _ in range(50):
            # What is under way may hold some for a moment (a task that ends); what holds itself stays for ever.
            app.within(quiet(app))
            left = [one for one in of_streams() if all(one is not other for other in others)]
            if not left:
                break
    finally:
        gc.enable()
    assert left == []


def of_streams() -> list[object]:
    """Return all runs and streams that are still referenced."""
    return [thing for thing in gc.get_objects() if isinstance(thing, Run | _RunStream | ConversationContext)]


async def quiet(app: RunningApp) -> None:
    """Wait until all events are on disk, and drop the references of these tests."""
    async with asyncio.timeout(30):
        while app.parts.runs._live or app.parts.runs._undurable:  # noqa: ASYNC110 - states without an event
            await asyncio.sleep(0)
    app._over.clear()
