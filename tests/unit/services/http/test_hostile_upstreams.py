"""Hostile upstreams: odd disconnects, invalid numbers, two responses, floods."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import orjson
import pytest
from signalbox.core.bounds.in_flight import IN_FLIGHT
from signalbox.core.bounds.part_slices import SLICE
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import Content
from signalbox.core.messages import UserMessage
from signalbox.core.parts import Request, StreamPart, TextDelta, UsageReport
from signalbox.services.http import response_reader
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialects import upstream_at
from signalbox.wire.openrouter.reasoning_details import MOST_DETAILS, ReasoningDetails
from signalbox.wire.openrouter.stream import ChatStreamDecoder

from tests.support.complexity import growth_of
from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for, driven, no_wait

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
ERROR = b'data: {"error":{"code":401,"message":"No auth credentials found"},"choices":[]}\n\n'

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def sends(data: bytes, *, holds: bool = False, resets: bool = False) -> Script:
    """Answer with these bytes, then hold, reset or close the connection."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        await writer.drain()
        if holds:
            await reader.read()  # until the client has gone
        if resets:
            writer.transport.abort()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    return script


async def end_of(script: Script, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, int]:
    """Run against a scripted upstream; return text, code or status, and the number of requests."""
    from signalbox.chat.loops.progress import Progress
    from signalbox.chat.loops.stepper import LoopInputs
    from signalbox.chat.loops.v2 import V2Loop
    from signalbox.services.tool_executor import ToolExecutor

    monkeypatch.setattr(response_reader, "_AFTER_FINISH", 0.05)
    asked: list[asyncio.Task[object] | None] = []

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(asyncio.current_task())
        await script(reader, writer)

    server = await asyncio.start_server(counted, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, HttpClient(idle_timeout=5) as client:
        service = UpstreamClient(client, upstream_at(f"http://127.0.0.1:{port}/api/v1"))
        context, progress = context_for([make_tool("f")]), Progress()
        loop = V2Loop(LoopInputs(context, service, ToolExecutor([make_tool("f")]), progress, sleep=no_wait))
        events = [event for batch in await driven(loop, context, progress) for event in batch]
        await asyncio.gather(*(task for task in asked if task is not None))
    done = events[-1]
    text = "".join(event.content for event in events if isinstance(event, Content))
    return text, str(getattr(done, "code", "")) if done.status != "complete" else "complete", len(asked)  # type: ignore[union-attr]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        pytest.param(sends(HEAD + ERROR, holds=True), ("", Code.UPSTREAM_AUTH, 1), id="error-then-held"),
        pytest.param(sends(HEAD + TEXT + ERROR, resets=True), ("Hi", Code.UPSTREAM_AUTH, 1), id="error-then-reset"),
        pytest.param(sends(HEAD + TEXT + FINISH, holds=True), ("Hi", "complete", 1), id="finish-then-held"),
        pytest.param(sends(HEAD + TEXT + FINISH, resets=True), ("Hi", "complete", 1), id="finish-then-reset"),
        pytest.param(sends(HEAD + b"<html>"), ("", Code.UPSTREAM_PROTOCOL, 3), id="web-page"),
        pytest.param(sends(HEAD + b"[1]"), ("", Code.UPSTREAM_PROTOCOL, 3), id="json-list"),
        pytest.param(
            sends(HEAD + TEXT + b"event: error\ndata: out of memory\n\n"),
            ("Hi", Code.UPSTREAM_ERROR, 1),
            id="error-text",
        ),
    ],
)
async def test_the_end_is_what_the_provider_sent(
    script: Script, wanted: tuple[str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an error or a finished answer, the kind of disconnect does not matter."""
    assert await end_of(script, monkeypatch) == wanted


@pytest.mark.anyio
async def test_a_second_response_is_no_part_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes after a complete response are ignored, even if they look like a response."""
    body = TEXT + FINISH
    one = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert await end_of(sends(one + one.replace(b"Hi", b"No")), monkeypatch) == ("Hi", "complete", 1)


@pytest.mark.parametrize("cost", [b"1e999", b"-1", b"9" * 400, b'"x"', b"true", b"NaN"])
def test_an_invalid_price_counts_as_missing(cost: bytes) -> None:
    """An invalid number reaches no frame, trace or sum."""
    parts = ChatStreamDecoder().feed(
        b'data: {"usage":{"prompt_tokens":-5,"completion_tokens":%b,"cost":%b}}\n\n' % (cost, cost)
    )
    [report] = [part for part in parts if isinstance(part, UsageReport)]
    assert report.usage.cost is None
    assert (report.usage.input, report.usage.output) == (0, 0)


def test_many_details_take_linear_time() -> None:
    """Each piece finds its detail by key (B3)."""
    decoder = ChatStreamDecoder()
    frame = b'data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":%d,"text":"a"}]}}]}\n\n'
    for index in [*range(300), *range(300)]:
        decoder.feed(frame % index)
    details = decoder.close()[-1].items  # type: ignore[union-attr]
    assert [detail.raw["text"] for detail in details] == ["aa"] * 300


def test_growing_details_are_joined_once() -> None:
    """Pieces of one detail take linear time."""

    def work(count: int) -> list[dict[str, object]]:
        details = ReasoningDetails()
        for _ in range(count):
            details.merge({"type": "reasoning.text", "index": 0, "text": "ab", "signature": None})
        return [dict(detail.raw) for detail in details.pop_all()]

    assert work(3) == [{"type": "reasoning.text", "index": 0, "text": "ababab", "signature": None}]
    assert growth_of(work, 200) < 2.3


def test_too_many_details_end_the_answer() -> None:
    """A flood of reasoning details ends the answer with a protocol error."""
    details = ReasoningDetails()
    for index in range(MOST_DETAILS):
        details.merge({"type": "reasoning.text", "index": index})
    with pytest.raises(UpstreamError, match="reasoning details"):
        details.merge({"type": "reasoning.text", "index": MOST_DETAILS})


@pytest.mark.anyio
async def test_a_large_frame_is_emitted_in_slices() -> None:
    """Between the slices of a frame of two megabytes, the event loop runs other callbacks."""
    text = "All the words of an answer. " * 75_000
    frame = b"data: " + orjson.dumps({"choices": [{"delta": {"content": text}}]}) + b"\n\n"
    sizes: list[int] = []
    turns: list[int] = []

    def emit(parts: list[StreamPart]) -> None:
        sizes.append(sum(len(part.text) for part in parts if isinstance(part, TextDelta)))

    async def count() -> None:
        while True:
            turns.append(len(sizes))
            await asyncio.sleep(0)

    server = await asyncio.start_server(sends(HEAD + frame + TEXT + FINISH), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    counting = asyncio.create_task(count())
    async with server, HttpClient(idle_timeout=5) as client:
        service = UpstreamClient(client, upstream_at(f"http://127.0.0.1:{port}/api/v1"))
        await service.stream(Request("openai/sim", (UserMessage("Hello!"),)), emit)
    counting.cancel()
    assert sum(sizes) == len(text) + len("Hi")
    assert max(sizes) <= SLICE
    assert {len(sizes) - 10, len(sizes) // 2, 5, 6} <= set(turns)


@pytest.mark.anyio
async def test_a_large_error_counts_as_its_status() -> None:
    """The body of an error of many megabytes is not read to its end; its status decides."""
    head = b"HTTP/1.1 503 x\r\ncontent-type: application/json\r\n\r\n"
    server = await asyncio.start_server(
        sends(head + b'{"error":{"message":"' + b"a" * 3_000_000, resets=True), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    async with server, HttpClient(idle_timeout=5) as client:
        service = UpstreamClient(client, upstream_at(f"http://127.0.0.1:{port}/api/v1"))
        with pytest.raises(UpstreamError) as refused:
            await service.stream(Request("openai/sim", (UserMessage("Hello!"),)), lambda _: None)
    assert refused.value.code is Code.UPSTREAM_OVERLOADED


@pytest.mark.anyio
@pytest.mark.parametrize("begun", [b"data: {", b"{"])
async def test_large_answers_share_a_memory_limit(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame or an answer beyond the shared limit is rejected with a separate code."""
    monkeypatch.setattr(IN_FLIGHT, "most", 100_000)
    body = HEAD + begun + b'"a":"' + b"a" * 2_000_000
    assert await end_of(sends(body), monkeypatch) == ("", Code.TOO_MUCH_AT_ONCE, 1)
    assert IN_FLIGHT.held == 0
