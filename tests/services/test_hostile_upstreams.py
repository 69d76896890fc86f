"""What a breaker found: upstreams that hang up oddly, send odd numbers, or answer twice."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from signalbox.core.errors import Code
from signalbox.core.events import Content
from signalbox.core.parts import UsageReport
from signalbox.services import answers
from signalbox.services.http import make_client
from signalbox.services.openrouter import OpenRouterService, Upstream
from signalbox.wire.openrouter_stream import StreamDecoder

from tests.support.runs import context_for, driven, no_wait
from tests.support.scripted import make_tool

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
ERROR = b'data: {"error":{"code":401,"message":"No auth credentials found"},"choices":[]}\n\n'

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def sends(data: bytes, *, holds: bool = False, resets: bool = False) -> Script:
    """Answer with these bytes; then hold the line, reset it, or close it."""

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
    """Drive one run against a scripted upstream; return its text, its code or status, and how often it was asked."""
    from signalbox.chat.loop_v2 import run_v2
    from signalbox.chat.progress import Progress
    from signalbox.services.tool_executor import ToolExecutor

    monkeypatch.setattr(answers, "_AFTER_FINISH", 0.05)
    asked: list[asyncio.Task[object] | None] = []

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(asyncio.current_task())
        await script(reader, writer)

    server = await asyncio.start_server(counted, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, make_client(idle_timeout=5) as client:
        service = OpenRouterService(client, Upstream(f"http://127.0.0.1:{port}/api/v1"))
        context, progress = context_for([make_tool("f")]), Progress()
        loop = run_v2(context, service, ToolExecutor([make_tool("f")]), progress, sleep=no_wait)
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
async def test_an_end_is_what_the_host_said_not_how_it_hung_up(
    script: Script, wanted: tuple[str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that was told keeps its code and is not asked again; an answer that was finished is finished."""
    assert await end_of(script, monkeypatch) == wanted


@pytest.mark.anyio
async def test_a_second_response_is_no_part_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes behind a whole response belong to nobody, also when they look like another response."""
    body = TEXT + FINISH
    one = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert await end_of(sends(one + one.replace(b"Hi", b"No")), monkeypatch) == ("Hi", "complete", 1)


@pytest.mark.parametrize("cost", [b"1e999", b"-1", b"9" * 400, b'"x"', b"true", b"NaN"])
def test_a_price_that_is_none_counts_as_not_told(cost: bytes) -> None:
    """No such number reaches a frame, a trace or a sum."""
    parts = StreamDecoder().feed(
        b'data: {"usage":{"prompt_tokens":-5,"completion_tokens":%b,"cost":%b}}\n\n' % (cost, cost)
    )
    [report] = [part for part in parts if isinstance(part, UsageReport)]
    assert report.usage.cost is None
    assert (report.usage.input, report.usage.output) == (0, 0)


def test_many_details_cost_no_more_than_their_number() -> None:
    """Each piece finds its place by its key: a walk over all details would make thousands of them quadratic (B3)."""
    decoder = StreamDecoder()
    frame = b'data: {"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":%d,"text":"a"}]}}]}\n\n'
    for index in [*range(300), *range(300)]:
        decoder.feed(frame % index)
    details = decoder.close()[-1].items  # type: ignore[union-attr]
    assert [detail.raw["text"] for detail in details] == ["aa"] * 300
