"""UpstreamClient against a scripted provider: requests, responses, closing, errors without the key."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import (
    Bill,
    EndOfStream,
    Fault,
    Finish,
    Request,
    Served,
    StreamPart,
    TextDelta,
    ToolSchema,
    Usage,
)
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.wire.dialects import upstream_at

from tests.support.fakes import collect_reads
from tests.support.scripted_upstream import DONE, Exchange, Script, ScriptedUpstream, chunk, holds, says, sends, silent

pytestmark = pytest.mark.anyio

ASK = Request("openai/sim", (UserMessage("Hello!"),))
KEY = "sk-or-v1-canary0123456789"
Start = Callable[..., tuple[UpstreamClient, ScriptedUpstream]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Connect a client to a scripted provider: `start(script, …)`."""
    async with AsyncExitStack() as stack:

        def started(*scripts: Script, models: Script | None = None, path: str = "/api/v1", idle: float = 5) -> Any:
            upstream = stack.enter_context(ScriptedUpstream(*scripts, models=models, path=path))
            client = HttpClient(connect_timeout=2, idle_timeout=idle)
            stack.push_async_callback(client.aclose)
            where = upstream_at(upstream.base_url + "/", KEY, referer="https://me.example", title="Me")
            return UpstreamClient(client, where), upstream

        yield started


async def read_stream(service: UpstreamClient, request: Request = ASK) -> list[StreamPart]:
    """Read one stream to its end."""
    return [part for parts in await collect_reads(service, request) for part in parts]


def text_of(parts: list[StreamPart]) -> str:
    """Join the text."""
    return "".join(part.text for part in parts if isinstance(part, TextDelta))


async def failed(service: UpstreamClient) -> UpstreamError:
    """Read a stream that fails before its first part."""
    with pytest.raises(UpstreamError) as refused:
        await read_stream(service)
    assert KEY not in refused.value.message
    return refused.value


async def test_one_list_of_parts_per_network_read(start: Start) -> None:
    """Parts of one read_stream are emitted together."""
    service, upstream = start(sends(chunk({"content": "a"}) + chunk({"content": "b"}), chunk({"content": "c"}) + DONE))
    batches = await collect_reads(service, ASK)
    assert text_of([part for parts in batches for part in parts]) == "abc"
    assert isinstance(batches[-1][-1], EndOfStream)
    assert len(upstream.asked) == 1


async def test_the_request(start: Start) -> None:
    """One POST with key, attribution and metadata, and a JSON body."""
    service, upstream = start(says("x"))
    await read_stream(service, Request("openai/sim", (UserMessage("Hi"),), (ToolSchema("t", "d", {"type": "object"}),)))
    asked = upstream.asked[0]
    assert (asked.method, asked.path) == ("POST", "/api/v1/chat/completions")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["accept"] == "text/event-stream"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["http-referer"] == "https://me.example"
    assert asked.headers["x-openrouter-title"] == "Me"
    assert asked.headers["x-openrouter-metadata"] == "enabled"
    assert asked.body["stream"] is True
    assert asked.body["tools"][0]["function"]["name"] == "t"


async def test_done_ends_the_answer_though_the_connection_stays_open(start: Start) -> None:
    """A provider that does not close after [DONE] delays nothing."""

    async def stays(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(chunk({"content": "x"}, finish="stop") + DONE)
        await exchange.client_left()

    service, upstream = start(stays)
    parts = await asyncio.wait_for(read_stream(service), 3)
    assert isinstance(parts[-1], EndOfStream)
    assert await asyncio.to_thread(upstream.wait_until, lambda: len(upstream.left) == 1)


async def test_what_follows_done_is_not_read(start: Start) -> None:
    """Text after [DONE] is not part of the answer."""
    service, _ = start(sends(chunk({"content": "x"}, finish="stop") + DONE + chunk({"content": "ghost"})))
    assert text_of(await read_stream(service)) == "x"


@pytest.mark.parametrize("together", [True, False], ids=["in one read_stream", "behind it"])
async def test_parts_behind_done_do_not_count(start: Start, together: bool) -> None:
    """Text, finish reasons and errors after [DONE] are ignored."""
    late = [chunk({"content": "ghost"}), chunk({}, finish="error", error={"code": 500, "message": "late"}), DONE]
    first = chunk({"content": "x"}, finish="stop") + DONE
    service, _ = start(sends(first + b"".join(late)) if together else sends(first, *late))
    parts = await read_stream(service)
    assert [part for part in parts if isinstance(part, Fault)] == []
    assert [type(part) for part in parts].index(EndOfStream) == len(parts) - 1
    assert (text_of(parts), sum(isinstance(part, Finish) for part in parts)) == ("x", 1)


async def test_the_connection_is_kept_for_the_next_step(start: Start) -> None:
    """After a complete answer, the next request uses the same connection."""
    peers: list[Any] = []

    async def keeps(exchange: Exchange) -> None:
        peers.append(exchange.writer.get_extra_info("peername"))
        exchange.keep = True
        await exchange.head()
        await exchange.send_text("x")
        await exchange.end()

    service, _ = start(keeps)
    for _ in range(3):
        assert text_of(await read_stream(service)) == "x"
    assert len(peers) == 3
    assert len(set(peers)) == 1


@pytest.mark.parametrize("script", [holds, silent], ids=["after words", "before the head"])
async def test_closing_closes_the_connection(start: Start, script: Script) -> None:
    """Cancelling ends the request at once, in every state (quirk E3)."""
    service, upstream = start(script)

    async def reads() -> None:
        await read_stream(service)

    task = asyncio.create_task(reads())
    assert await asyncio.to_thread(upstream.wait_until, lambda: len(upstream.asked) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(upstream.wait_until, lambda: len(upstream.left) == 1, 1.0)


class Enough(Exception):
    """Raised by an `emit` that ends the request."""


async def test_an_error_of_emit_closes_the_connection(start: Start) -> None:
    """The error of `emit` ends the request at once and is raised unchanged."""
    service, upstream = start(holds)
    seen: list[StreamPart] = []

    def takes(parts: list[StreamPart]) -> None:
        seen.extend(parts)
        if text_of(seen):
            raise Enough

    with pytest.raises(Enough):
        await service.stream(ASK, takes)
    assert text_of(seen) == "So far"
    assert await asyncio.to_thread(upstream.wait_until, lambda: len(upstream.left) == 1, 30.0)


async def test_nothing_is_emitted_after_an_error_of_emit(start: Start) -> None:
    """Neither the rest of the read_stream nor later reads are emitted."""
    for finish in (None, "stop"):
        service, _ = start(sends(chunk({"content": "a"}, finish=finish), *[chunk({"content": "b"})] * 20, DONE))
        taken: list[list[StreamPart]] = []

        def takes(parts: list[StreamPart], taken: list[list[StreamPart]] = taken) -> None:
            taken.append(parts)
            raise Enough

        with pytest.raises(Enough):
            await service.stream(ASK, takes)
        assert len(taken) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_an_error(start: Start, status: int) -> None:
    """The key is not sent to another host."""

    async def redirects(exchange: Exchange) -> None:
        await exchange.whole(status, b"", location="https://elsewhere.example/")

    service, upstream = start(redirects)
    error = await failed(service)
    assert (error.code, "redirect" in error.message) == (Code.UPSTREAM_PROTOCOL, True)
    assert len(upstream.asked) == 1


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, Code.UPSTREAM_AUTH),
        (404, Code.UPSTREAM_NOT_FOUND),
        (502, Code.UPSTREAM_ERROR),
        (504, Code.UPSTREAM_TIMEOUT),
    ],
)
async def test_an_error_page_in_html(start: Start, status: int, code: Code) -> None:
    """A proxy's page is reported by its status, without its markup."""

    async def page(exchange: Exchange) -> None:
        await exchange.whole(status, f"<html><b>{KEY}</b> nginx</html>".encode(), "text/html")

    service, _ = start(page)
    error = await failed(service)
    assert (error.code, error.status) == (code, status)
    assert "<" not in error.message


async def test_a_page_under_status_200(start: Start) -> None:
    """A web page is no stream: none of it becomes text."""
    service, _ = start(sends(b"<html><body>Welcome</body></html>", kind="text/html"))
    try:
        parts = await read_stream(service)
    except UpstreamError as error:
        assert error.code is Code.UPSTREAM_PROTOCOL  # noqa: PT017 - either way of telling it is well
    else:
        assert text_of(parts) == ""
        assert not any(isinstance(part, EndOfStream | Finish) for part in parts)


@pytest.mark.parametrize("cut", [1, 5, 40])
async def test_a_whole_body_in_answer_to_a_stream_request(start: Start, cut: int) -> None:
    """A provider that does not stream is understood, however its body is split (quirk E1)."""
    answer = {"id": "gen-1", "model": "m", "choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}
    body = b"  \n" + json.dumps(answer).encode()
    service, _ = start(sends(body[:cut], body[cut:], kind="application/json"))
    parts = await read_stream(service)
    assert text_of(parts) == "Whole."
    assert isinstance(parts[-1], EndOfStream)


async def test_an_error_body_under_status_200(start: Start) -> None:
    """The error becomes a part with its code and without the key."""
    body = json.dumps({"error": {"code": 429, "message": f"slow down, {KEY}"}}).encode()
    service, _ = start(sends(body, kind="application/json"))
    parts = await read_stream(service)
    faults = [part for part in parts if isinstance(part, Fault)]
    assert [fault.error.code for fault in faults] == [Code.RATE_LIMIT]
    assert KEY not in faults[0].error.message


@pytest.mark.parametrize("key", ["plain-words-key", "0123456789abcdef"])
async def test_no_key_of_any_shape_is_in_a_fault_of_a_stream(key: str) -> None:
    """A key without a known prefix is removed, too (quirk G4)."""
    frame = chunk({}, finish="error", error={"code": 401, "message": f"bad {key}", "metadata": {"provider_name": key}})
    with ScriptedUpstream(sends(frame + DONE)) as upstream:
        async with HttpClient() as client:
            parts = await read_stream(UpstreamClient(client, upstream_at(upstream.base_url, key)))
    faults = [part for part in parts if isinstance(part, Fault)]
    assert len(faults) == 1
    assert key not in faults[0].error.message


@pytest.mark.parametrize("stream", [True, False])
async def test_the_generation_id_of_the_header(start: Start, stream: bool) -> None:
    """The generation's id is known from the headers, before any chunk (F4)."""
    body = {"choices": [{"message": {"content": "x"}, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    raw = json.dumps(body).encode()
    piece = b"data: " + raw + b"\n\n" + DONE if stream else raw
    service, _ = start(
        sends(piece, kind="text/event-stream" if stream else "application/json", x_generation_id="gen-h")
    )
    parts = await read_stream(service) if stream else await service.complete(ASK)
    assert [part.generation_id for part in parts if isinstance(part, Served)] == ["gen-h"]


async def test_a_cut_stream(start: Start) -> None:
    """A connection that closes in the middle is STREAM_CUT, after the parts that arrived."""

    async def cuts(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")

    service, _ = start(cuts)
    seen: list[StreamPart] = []

    with pytest.raises(UpstreamError) as refused:
        await service.stream(ASK, seen.extend)
    assert refused.value.code is Code.STREAM_CUT
    assert text_of(seen) == "So far"


async def test_a_socket_that_closes_before_the_head(start: Start) -> None:
    """Without a response it is not a cut answer."""

    async def closes(exchange: Exchange) -> None:
        return

    service, _ = start(closes)
    assert (await failed(service)).code in (Code.UPSTREAM_PROTOCOL, Code.UPSTREAM_UNREACHABLE)


async def test_silence(start: Start) -> None:
    """Silence beyond the idle timeout is a timeout, before and after the headers."""
    for script in (silent, holds):
        service, _ = start(script, idle=0.05)
        with pytest.raises(UpstreamError) as refused:
            await read_stream(service)
        assert refused.value.code is Code.UPSTREAM_STALLED


async def test_a_refused_connection() -> None:
    """The error says what to check."""
    async with HttpClient() as client:
        error = await failed(UpstreamClient(client, upstream_at("http://127.0.0.1:9/v1", KEY)))
    assert (error.code, error.retryable) == (Code.UPSTREAM_UNREACHABLE, True)


async def test_a_whole_answer(start: Start) -> None:
    """`complete` requests no stream and reads one body."""
    answer = {"id": "gen-1", "choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}]}
    service, upstream = start(sends(json.dumps(answer).encode(), kind="application/json"))
    assert text_of(await service.complete(ASK)) == "Whole."
    assert upstream.asked[0].body["stream"] is False


async def test_models_without_an_id_are_skipped(start: Start) -> None:
    """An entry without a usable id is not stored as model "None" (seed row PS-31)."""
    listed = {"data": [{"id": "a/b"}, {"name": "x"}, {"id": None}, {"id": ""}, {"id": 5}, "text", {"id": "c/d"}]}
    service, _ = start(says(""), models=sends(json.dumps(listed).encode(), kind="application/json"))
    assert [entry["id"] for entry in await service.models()] == ["a/b", "c/d"]


@pytest.mark.parametrize("body", [b"[]", b"<html>", b"", b'{"data": 5}', b'{"half":'])
async def test_an_invalid_catalogue(start: Start, body: bytes) -> None:
    """It is an empty list or a protocol error, never another exception."""
    service, _ = start(says(""), models=sends(*([body] if body else []), kind="application/json"))
    try:
        assert await service.models() == []
    except UpstreamError as error:
        assert error.code is Code.UPSTREAM_PROTOCOL  # noqa: PT017 - either way of telling it is well


async def test_a_generation(start: Start) -> None:
    """The cost of a generation is requested by its id."""
    told = json.dumps({"data": {"id": "gen 1", "total_cost": 0.5}}).encode()
    service, upstream = start(says(""), models=sends(told, kind="application/json"))
    assert await service.bill("gen 1") == Bill(Usage(cost=0.5))
    assert upstream.catalogues[0].path == "/api/v1/generation?id=gen%201"
