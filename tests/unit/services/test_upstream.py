"""UpstreamClient against a scripted provider: requests, responses, closing."""

import asyncio
import json
from typing import Any

import pytest
from signalbox.core.messages import UserMessage
from signalbox.core.parts import (
    Bill,
    EndOfStream,
    Fault,
    Finish,
    Request,
    Served,
    StreamPart,
    ToolSchema,
    Usage,
)

from tests.support.fakes import collect_reads
from tests.support.scripted_upstream import DONE, Exchange, Script, chunk, holds, says, sends, silent
from tests.unit.services.scripted_client import ASK, KEY, Start, read_stream, text_of

pytestmark = pytest.mark.anyio


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


async def test_trace_headers_belong_to_one_request(start: Start) -> None:
    """The next request does not repeat those of the last one."""
    service, upstream = start(says("x"), says("x"))
    await read_stream(service, Request("openai/sim", (UserMessage("Hi"),), trace_headers={"traceparent": "00-ab"}))
    await read_stream(service, ASK)
    assert [asked.headers.get("traceparent") for asked in upstream.asked] == ["00-ab", None]
    assert upstream.asked[0].headers["authorization"] == f"Bearer {KEY}"


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


async def test_a_generation(start: Start) -> None:
    """The cost of a generation is requested by its id."""
    told = json.dumps({"data": {"id": "gen 1", "total_cost": 0.5}}).encode()
    service, upstream = start(says(""), models=sends(told, kind="application/json"))
    assert await service.bill("gen 1") == Bill(Usage(cost=0.5))
    assert upstream.catalogues[0].path == "/api/v1/generation?id=gen%201"
