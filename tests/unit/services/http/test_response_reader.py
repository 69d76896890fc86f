"""Model answers read over httpx: the same parts, emitted read by read."""

from collections.abc import AsyncIterator

import httpx
import pytest
import respx
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import EndOfStream, Request, StreamPart, TextDelta
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialects import upstream_at

from tests.support.fakes import collect_reads
from tests.support.scripted_upstream import DONE, chunk

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left_open")]

HEADERS = {"content-type": "text/event-stream"}


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    """Return a body of these reads."""
    for one in data:
        yield one


FRAMES = (chunk({"content": "a"}), chunk({"content": "b"}, finish="stop"), DONE)


async def test_an_answer_over_httpx() -> None:
    """The same parts, read by read; an error raised by `emit` ends the answer there."""
    with respx.mock:
        url = "https://provider.test/api/v1/chat/completions"
        respx.post(url).mock(side_effect=lambda _: httpx.Response(200, headers=HEADERS, content=pieces(*FRAMES)))
        async with HttpClient(transport=httpx.AsyncHTTPTransport()) as client:
            service = UpstreamClient(client, upstream_at("https://provider.test/api/v1", "key"))
            ask = Request("openai/sim", (UserMessage("Hello!"),))
            reads = await collect_reads(service, ask)
            assert [[p.text for p in parts if isinstance(p, TextDelta)] for parts in reads] == [["a"], ["b"], []]
            assert isinstance(reads[-1][-1], EndOfStream)
            taken: list[list[StreamPart]] = []

            def takes(parts: list[StreamPart]) -> None:
                taken.append(parts)
                raise ValueError("enough")

            with pytest.raises(ValueError, match="enough"):
                await service.stream(ask, takes)
            assert len(taken) == 1


async def test_a_cut_answer_over_httpx() -> None:
    """Parts before the cut are emitted."""

    async def breaks() -> AsyncIterator[bytes]:
        yield FRAMES[0]
        raise httpx.RemoteProtocolError("peer closed connection")

    with respx.mock:
        respx.post("https://provider.test/v1/chat/completions").mock(
            side_effect=lambda _: httpx.Response(200, headers=HEADERS, content=breaks())
        )
        async with HttpClient(transport=httpx.AsyncHTTPTransport()) as client:
            service = UpstreamClient(client, upstream_at("https://provider.test/v1", "key"))
            seen: list[StreamPart] = []
            with pytest.raises(UpstreamError) as refused:
                await service.stream(Request("openai/sim", (UserMessage("Hello!"),)), seen.extend)
    assert refused.value.code is Code.STREAM_CUT
    assert [part.text for part in seen if isinstance(part, TextDelta)] == ["a"]
