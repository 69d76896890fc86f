"""The timer of a connection, with a manual clock."""

import asyncio

import pytest
from signalbox.services.http.errors import ReadTimeout

from tests.unit.services.http.manual_connection import END, open_stream

pytestmark = pytest.mark.anyio


async def test_one_timer_serves_many_reads() -> None:
    """A hundred reads within the limit re-arm one timer, and none times out."""
    link, transport, clock = await open_stream()
    for second in range(1, 101):
        reading = asyncio.create_task(link.read())
        await asyncio.sleep(0)
        clock.go(second)
        link.data_received(b"2\r\nok\r\n")
        assert await reading == b"ok"
    assert clock.calls <= 12
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    clock.go(109)
    assert not transport.aborted
    clock.go(110)
    with pytest.raises(ReadTimeout):
        await reading
    assert transport.aborted


async def test_a_slow_reader_is_not_a_silent_server() -> None:
    """Time in which the caller does not read does not count as silence."""
    link, transport, clock = await open_stream()
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    link.data_received(b"2\r\nok\r\n")
    await reading
    clock.go(1000)
    reading = asyncio.create_task(link.read())
    await asyncio.sleep(0)
    clock.go(1009)
    assert not transport.aborted
    link.data_received(b"2\r\nok\r\n")
    assert await reading == b"ok"


async def test_an_unused_connection_expires() -> None:
    """The timer closes an idle connection, but not during another response on it."""
    link, transport, clock = await open_stream(idle_timeout=120)
    link.data_received(END)
    assert link.finish(30)
    clock.go(29)
    assert not link.closed
    clock.go(30)
    assert link.closed
    assert transport.aborted
