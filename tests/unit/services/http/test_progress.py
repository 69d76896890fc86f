"""An answer of which only keep-alives arrive ends after the progress timeout."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import respx
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import Request, TextDelta
from signalbox.services.http import progress
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialect import Upstream
from signalbox.wire.dialects import DIALECTS

from tests.support.fakes import collect_reads
from tests.support.scripted_upstream import DONE, chunk

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

URL = "https://provider.test"
ASK = Request("sim", (UserMessage("Hello!"),))
SSE = {"content-type": "text/event-stream"}
# Anthropic's event, which its SDKs ignore.
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
TEXT = (chunk({"content": "a"}), chunk({"content": "b"}, finish="stop"), DONE)


class Clock:
    """Advances by two seconds whenever it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        self.now += 2
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the clock of the limit."""
    clock = Clock()
    monkeypatch.setattr(progress, "monotonic", clock)
    return clock


async def forever(piece: bytes) -> AsyncIterator[bytes]:
    """Send the same bytes without end."""
    while True:
        await asyncio.sleep(0)
        yield piece


@pytest.fixture
def mocked() -> Iterator[respx.Router]:
    """The upstream."""
    with respx.mock as router:
        yield router


def client_of(http: HttpClient, dialect: str) -> UpstreamClient:
    """Return a client with a progress timeout of ten seconds."""
    return UpstreamClient(http, Upstream(DIALECTS[dialect], URL, "a-key"), progress_timeout=10)


@pytest.mark.parametrize("keep_alive", [b": ping\n\n", PING, b"\n", b"data: : keepalive\n\n"])
@pytest.mark.parametrize("dialect", sorted(DIALECTS))
async def test_a_stream_of_keep_alives_is_stalled(mocked: respx.Router, dialect: str, keep_alive: bytes) -> None:
    """Comments, pings and blank lines are no progress, in any dialect."""
    if keep_alive == PING and dialect != "anthropic-messages":
        pytest.skip("only Anthropic's API has this event")
    mocked.post(url__startswith=URL).mock(
        side_effect=lambda _: httpx.Response(200, headers=SSE, content=forever(keep_alive))
    )
    async with HttpClient(transport=httpx.AsyncHTTPTransport()) as http:
        with pytest.raises(UpstreamError) as ended:
            await collect_reads(client_of(http, dialect), ASK)
    assert ended.value.code is Code.UPSTREAM_STALLED
    assert "keep-alives" in ended.value.message
    assert ended.value.retryable


async def test_a_whole_answer_of_white_space_is_stalled(mocked: respx.Router) -> None:
    """Some servers send white space while they wait for the answer."""
    mocked.post(url__startswith=URL).mock(side_effect=lambda _: httpx.Response(200, content=forever(b"\n")))
    async with HttpClient(transport=httpx.AsyncHTTPTransport()) as http:
        with pytest.raises(UpstreamError) as ended:
            await client_of(http, "openrouter-chat").complete(ASK)
    assert ended.value.code is Code.UPSTREAM_STALLED


async def test_each_part_is_progress(mocked: respx.Router, clock: Clock) -> None:
    """Keep-alives between parts end nothing, although together they take longer than the limit."""

    async def slow() -> AsyncIterator[bytes]:
        for piece in TEXT:
            for _ in range(4):
                yield b": ping\n\n"
            yield piece

    mocked.post(url__startswith=URL).mock(side_effect=lambda _: httpx.Response(200, headers=SSE, content=slow()))
    async with HttpClient(transport=httpx.AsyncHTTPTransport()) as http:
        reads = await collect_reads(client_of(http, "openrouter-chat"), ASK)
    assert "".join(part.text for parts in reads for part in parts if isinstance(part, TextDelta)) == "ab"
    assert clock.now > 10


async def test_parts_before_the_stall_are_kept(mocked: respx.Router, clock: Clock) -> None:
    """The text before the keep-alives has been emitted; reads with parts do not read the clock."""

    async def stuck() -> AsyncIterator[bytes]:
        yield TEXT[0]
        assert clock.now == 0
        async for piece in forever(b": ping\n\n"):
            yield piece

    mocked.post(url__startswith=URL).mock(side_effect=lambda _: httpx.Response(200, headers=SSE, content=stuck()))
    seen: list[object] = []
    async with HttpClient(transport=httpx.AsyncHTTPTransport()) as http:
        with pytest.raises(UpstreamError) as ended:
            await client_of(http, "openrouter-chat").stream(ASK, seen.extend)
    assert ended.value.code is Code.UPSTREAM_STALLED
    assert [part.text for part in seen if isinstance(part, TextDelta)] == ["a"]
