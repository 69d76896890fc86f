"""The response of a stream: pushed bytes are sent at once and in order, for every behaviour of the client."""

import asyncio
import gc
from collections.abc import AsyncGenerator

import pytest
from signalbox.app.asgi import streaming
from signalbox.app.asgi.eager_task import start_eagerly
from signalbox.app.asgi.streaming import EventStream
from signalbox.app.run_stream import _RunStream
from signalbox.chat.context import ConversationContext
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.runs.run import Run
from starlette.types import Message

from tests.support.running_app import RunningApp

pytestmark = pytest.mark.anyio


class Client:
    """The server's side of a client: received bodies, whether writes block, and whether it has disconnected."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.room, self.gone = asyncio.Event(), asyncio.Event()
        self.room.set()
        self.error: Exception | None = None

    async def send(self, message: Message) -> None:
        if message["type"] != "http.response.body":
            return
        if self.error is not None:
            raise self.error
        if not self.room.is_set():
            await self.room.wait()
        self.bodies.append(message["body"])

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}


class Stage:
    """A stream whose generator yields what the test provides; None ends it."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.client = Client()
        self.closed = False
        self.stream = EventStream(SseV1Encoder, self._body(), {})
        self.task = asyncio.create_task(self.stream({"type": "http"}, self.client.receive, self.client.send))

    async def _body(self) -> AsyncGenerator[bytes, None]:
        try:
            while (item := await self.items.get()) is not None:
                yield item
        finally:
            self.closed = True

    async def open(self) -> "Stage":
        await turns(lambda: self.stream.is_free)
        return self

    async def end(self) -> list[bytes]:
        self.items.put_nowait(None)
        await asyncio.wait_for(self.task, 30)
        return self.client.bodies


async def turns(holds: object) -> None:
    """Run the event loop until a condition holds."""
    async with asyncio.timeout(30):
        while not holds():  # type: ignore[operator]  # noqa: ASYNC110 - a state without an event
            await asyncio.sleep(0)


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


# --- pings ---


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


# --- coroutines that start eagerly ---


async def test_a_coroutine_without_suspension_finishes_at_once() -> None:
    """It needs no task."""
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    assert start_eagerly(work()) is None
    assert done == [1]


async def test_a_suspended_coroutine_continues_in_a_task() -> None:
    """It continues through several suspensions with their results."""
    first: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    done: list[str] = []

    async def work() -> None:
        done.append("begun")
        done.append(await first)
        await asyncio.sleep(0)
        done.append("over")

    task = start_eagerly(work())
    assert task is not None
    assert done == ["begun"]
    first.set_result("waited")
    await asyncio.wait_for(task, 30)
    assert done == ["begun", "waited", "over"]


async def test_a_later_error_is_raised_in_the_task() -> None:
    """An error of the awaited future is raised inside the coroutine first."""
    first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        try:
            await first
        except ValueError as error:
            raise KeyError("inside") from error

    task = start_eagerly(work())
    assert task is not None
    first.set_exception(ValueError("outside"))
    with pytest.raises(KeyError, match="inside"):
        await asyncio.wait_for(task, 30)


async def test_a_suspended_coroutine_can_be_cancelled() -> None:
    """The cancellation is raised inside the coroutine, which may clean up."""
    cleared: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleared.append(True)

    task = start_eagerly(work())
    assert task is not None
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleared == [True]


async def test_an_immediate_error_is_raised_to_the_caller() -> None:
    """Without a task, the error is raised by `start_eagerly`."""

    async def work() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        start_eagerly(work())


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
