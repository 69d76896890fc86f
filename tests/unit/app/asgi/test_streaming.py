"""The response of a stream by itself: what is pushed leaves at once and in order, whatever the client does."""

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
    """The server's side of a client: bodies that it has, whether it takes more, and whether it is gone."""

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
    """A stream whose generator yields what the test puts in; None ends it."""

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
    """Let the loop work until this holds."""
    async with asyncio.timeout(30):
        while not holds():  # type: ignore[operator]  # noqa: ASYNC110 - a state, which tells nobody of itself
            await asyncio.sleep(0)


async def test_what_is_pushed_leaves_before_push_returns() -> None:
    """No task is woken for it, and what the generator yields later comes behind it."""
    stage = await Stage().open()
    stage.stream.push(b"one")
    stage.stream.push(b"two")
    assert stage.client.bodies == [b"one", b"two"]
    stage.items.put_nowait(b"three")
    assert await stage.end() == [b"one", b"two", b"three", b""]
    assert stage.closed


async def test_nothing_can_be_pushed_before_the_head() -> None:
    """The stream says when it is ready."""
    stage = Stage()
    assert not stage.stream.is_free
    await stage.open()
    await stage.end()


async def test_a_push_that_must_wait_goes_out_before_what_follows() -> None:
    """The client reads slowly: its stream is not free meanwhile, and keeps its order."""
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


async def test_a_push_that_must_wait_goes_out_before_the_end() -> None:
    """The generator is over already; the last bytes are not lost."""
    stage = await Stage().open()
    stage.client.room.clear()
    stage.stream.push(b"one")
    stage.items.put_nowait(None)
    for _ in range(5):
        await asyncio.sleep(0)
    stage.client.room.set()
    await asyncio.wait_for(stage.task, 30)
    assert stage.client.bodies == [b"one", b""]


async def test_what_is_left_for_the_end_goes_with_it() -> None:
    """In one message, behind all that was pushed: the last event of a stream costs no write of its own."""
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


async def test_a_push_that_breaks_breaks_its_own_stream_alone() -> None:
    """Whoever pushes (the run) hears nothing of it; the stream's own task does."""
    stage = await Stage().open()
    stage.client.error = OSError("gone")
    stage.stream.push(b"one")
    assert not stage.stream.is_free
    stage.items.put_nowait(b"two")
    with pytest.raises(OSError, match="gone"):
        await asyncio.wait_for(stage.task, 30)
    assert stage.closed


async def test_a_client_may_leave_while_a_push_waits() -> None:
    """The generator is closed, and nothing is left running."""
    before = asyncio.all_tasks()
    stage = await Stage().open()
    stage.client.room.clear()
    stage.stream.push(b"one")
    stage.client.gone.set()
    await asyncio.wait_for(stage.task, 30)
    await turns(lambda: asyncio.all_tasks() == before)
    assert stage.closed


async def test_a_short_way_that_breaks_breaks_its_own_stream_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket may be closed a moment before anybody is told of it."""
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
    """The time of a stream, in seconds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Have streams go by a clock of the test's."""
    clock = Clock()
    monkeypatch.setattr(streaming, "monotonic", clock)
    return clock


async def looks(stage: Stage) -> None:
    """Have the timer of pings fire, and let the loop work."""
    stage.stream._ping(stage.client.send)
    for _ in range(5):
        await asyncio.sleep(0)


async def test_who_speaks_is_not_pinged(clock: Clock) -> None:
    """What is pushed counts as well; a silence as long as that is pinged once."""
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


async def test_a_client_who_takes_nothing_is_pinged_once(clock: Clock) -> None:
    """However long he does so: pings must not pile up."""
    stage = await Stage().open()
    stage.client.room.clear()
    for _ in range(3):
        clock.now += 20
        await looks(stage)
    stage.client.room.set()
    await turns(lambda: stage.client.bodies)
    assert await stage.end() == [SseV1Encoder.ping, b""]


async def test_nobody_is_pinged_behind_the_end(clock: Clock) -> None:
    """Also where the end waits for a client who takes nothing: it would be no answer any more."""
    stage = await Stage().open()
    stage.client.room.clear()
    stage.items.put_nowait(None)
    await turns(lambda: stage.closed)
    assert stage.stream._timer is not None
    assert stage.stream._timer.cancelled()
    stage.client.room.set()
    await asyncio.wait_for(stage.task, 30)
    assert stage.client.bodies == [b""]


async def test_a_ping_that_breaks_ends_its_stream(clock: Clock) -> None:
    """In the stream's own task, which tells of it as of any other write."""
    stage = await Stage().open()
    stage.client.error = OSError("gone")
    clock.now += 20
    await looks(stage)
    assert not stage.stream.is_free
    stage.items.put_nowait(b"one")
    with pytest.raises(OSError, match="gone"):
        await asyncio.wait_for(stage.task, 30)


# --- coroutines that start eagerly ---


async def test_work_that_never_waits_is_done_at_once() -> None:
    """It leaves no task behind."""
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    assert start_eagerly(work()) is None
    assert done == [1]


async def test_work_that_waits_goes_on_in_a_task() -> None:
    """Through several waits, with the values that they give."""
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


async def test_work_that_fails_later_fails_in_its_task() -> None:
    """An error of what it waits for is raised inside it first."""
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


async def test_work_that_waits_can_be_cancelled() -> None:
    """It hears of it, and may clear up."""
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


async def test_work_that_fails_at_once_fails_here() -> None:
    """There is no task that could tell."""

    async def work() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        start_eagerly(work())


# --- what a stream leaves behind ---


def test_a_stream_leaves_nothing_that_holds_itself(app: RunningApp) -> None:
    """Its run and its request go with it: looking through everything halts all streams, and so it is done seldom."""
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
    """Return all runs and streams that anybody holds."""
    return [thing for thing in gc.get_objects() if isinstance(thing, Run | _RunStream | ConversationContext)]


async def quiet(app: RunningApp) -> None:
    """Wait until all that was said is on disk, and have these tests forget the runs that they remember."""
    async with asyncio.timeout(30):
        while app.parts.runs._live or app.parts.runs._undurable:  # noqa: ASYNC110 - they tell nobody of it
            await asyncio.sleep(0)
    app._over.clear()
