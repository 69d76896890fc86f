"""A body whose first items are looked at before they are sent: none is lost or doubled, whenever it comes."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from signalbox.app.asgi.late_head import PeekedBody

pytestmark = pytest.mark.anyio
SOON = 30.0  # a limit for tests that hang


class Source:
    """A generator that yields what the test provides: an item, an error, or None for its end."""

    def __init__(self, *items: str | Exception | None) -> None:
        self.items: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        for item in items:
            self.items.put_nowait(item)
        self.closed = 0
        self.body = PeekedBody(self._items())

    async def _items(self) -> AsyncGenerator[str, None]:
        try:
            while (item := await self.items.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.closed += 1

    async def peek(self, seconds: float = SOON) -> list[str]:
        return await self.body.peek(str.isupper, seconds)

    async def rest(self) -> list[str]:
        return [item async for item in self.body]


async def turn() -> None:
    """Let all tasks that are ready run."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("items", "peeked"),
    [("A", "A"), ("AbC", "A"), ("abC", "abC"), ("abCd", "abC"), ("ab", "ab"), ("", "")],
)
async def test_items_are_read_up_to_the_decisive_one(items: str, peeked: str) -> None:
    """They come again when the body is read, then the others; a body may also end without a decisive item."""
    source = Source(*items, None)
    assert await source.peek() == [*peeked]
    assert await source.rest() == [*items]
    assert source.closed == 1


@pytest.mark.parametrize("held", ["", "ab"])
@pytest.mark.parametrize("later", ["", "C", "cDe"])
@pytest.mark.parametrize("is_reading", [True, False], ids=["while it is read", "before it is read"])
async def test_items_after_the_wait_follow(held: str, later: str, is_reading: bool) -> None:
    """The item that the wait was for is not lost when the wait is over, nor is the end."""
    source = Source(*held)
    assert await source.peek(seconds=0.001) == [*held]
    reading = asyncio.create_task(source.rest()) if is_reading else None
    await turn()
    for item in (*later, None):
        source.items.put_nowait(item)
        await turn()
    assert await asyncio.wait_for(reading or source.rest(), SOON) == [*held, *later]
    assert source.closed == 1


async def test_what_is_held_is_known() -> None:
    """Until the held items are read, nothing may be sent before them."""
    source = Source("a", "B", None)
    assert not source.body.is_holding
    await source.peek()
    assert source.body.is_holding
    assert (await anext(source.body), source.body.is_holding) == ("a", True)
    assert (await anext(source.body), source.body.is_holding) == ("B", False)
    await source.body.aclose()


@pytest.mark.parametrize("held", ["", "a"])
async def test_a_cancelled_peek_can_be_closed(held: str) -> None:
    """A client that leaves while the head waits ends the generator, which is still waiting for its next item."""
    source = Source(*held)
    peeking = asyncio.create_task(source.peek())
    await turn()
    peeking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await peeking
    assert source.closed == 0
    await asyncio.wait_for(source.body.aclose(), SOON)
    assert source.closed == 1


async def test_a_body_whose_next_item_is_pending_can_be_closed() -> None:
    """After the wait, a client may leave before the item comes, before or while the stream reads on."""
    unread, read = Source(), Source()
    for source in (unread, read):
        assert await source.peek(seconds=0.001) == []
    reading = asyncio.create_task(read.rest())
    await turn()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    for source in (unread, read):
        await asyncio.wait_for(source.body.aclose(), SOON)
        assert source.closed == 1


async def test_closing_twice_is_once() -> None:
    """The response closes it at every end."""
    source = Source("A")
    await source.peek()
    for _ in range(2):
        await source.body.aclose()
    assert source.closed == 1


async def test_an_error_within_the_wait_is_raised_there() -> None:
    """An error of the generator is no end; closing the body does not raise it again."""
    source = Source("a", ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        await source.peek()
    await source.body.aclose()
    assert source.closed == 1


async def test_an_error_after_the_wait_is_raised_to_the_reader() -> None:
    """It comes behind the held items, and once."""
    source = Source("a")
    await source.peek(seconds=0.001)
    source.items.put_nowait(ValueError("broken"))
    assert await anext(source.body) == "a"
    with pytest.raises(ValueError, match="broken"):
        await anext(source.body)
    await source.body.aclose()
    assert source.closed == 1
