"""LLM06 Unbounded Consumption: bodies, streams, frames, steps, searches and results are limited (G5, G6)."""

import asyncio
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from signalbox.app.asgi.streaming import EventStream
from signalbox.app.protocols import V1
from signalbox.app.request import body as request_body
from signalbox.app.run_stream import run_response
from signalbox.wire import sse

from tests.scenarios.security.hostile import obeys, page_tool, tool_messages
from tests.support.fixtures import StartApp
from tests.support.running_app import RunningApp, error_of
from tests.support.scripted_upstream import Exchange, chunk, holds, says
from tests.support.stream_reader import check_stream

POST = b"POST /api/chat/stream HTTP/1.1\r\nhost: localhost\r\n"


def raw_answer(app: RunningApp, *pieces: bytes) -> bytes:
    """Send bytes on a separate connection; return the response until the server closes."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=10) as raw:
        try:
            for piece in pieces:
                raw.sendall(piece)
        except ConnectionError:
            pass  # the server closed the connection, which is allowed
        got = b""
        try:
            while b"}}" not in got and (data := raw.recv(65536)):
                got += data
        except ConnectionError:
            pass
        return got


# --- bodies ---


def test_g06_a_body_without_end_is_refused_while_it_comes(app: RunningApp) -> None:
    """An endless chunked body is rejected as soon as it is too large."""
    flood = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    head = POST + b"transfer-encoding: chunked\r\n\r\n"
    answer = raw_answer(app, head, *[flood] * 129)  # slightly over 8 MB, without an end
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"BODY_TOO_LARGE" in answer


@pytest.mark.parametrize("length", [b"8388609", b"99999999999"])
def test_g06_an_announced_size_is_believed(app: RunningApp, length: bytes) -> None:
    """A Content-Length over the limit is rejected before the body is read."""
    answer = raw_answer(app, POST + b"content-length: " + length + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 4_000_000 + b"]" * 4_000_000,
        b'{"model":"openai/sim","messages":[' + b"[]," * 2_500_000 + b"[]]}",
        b'{"model":"openai/sim","prompt":"a","provider":{"x":[' + b"{}," * 2_500_000 + b"{}]}}",
        b'{"model":"openai/sim","prompt":"a","provider":{"x":[' + b'["\\"]",[' * 400_000 + b"]" * 800_000 + b"]}}",
    ],
    ids=["deep", "lists", "objects", "quotes"],
)
def test_g06_a_body_of_millions_of_lists_is_refused_unparsed(
    app: RunningApp, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parsing it would block all streams for seconds and take many times its size in memory."""
    monkeypatch.setattr(request_body, "orjson", None)  # parsing would fail
    response = app.client.post("/api/chat/stream", content=body)
    assert (response.status_code, error_of(response)["code"]) == (422, "INVALID_REQUEST")


def test_g06_brackets_in_texts_do_not_count(start_app: StartApp) -> None:
    """A long prompt of source code with quotes and escapes is accepted."""
    app, upstream = start_app(says("Read."))
    code = '{"a": ["\\\\", "\\"[{"]}' * 60_000
    assert app.ask(code, tools=[]).text == "Read."
    assert upstream.asked[0].body["messages"][-1]["content"] == code


@pytest.mark.parametrize("levels", [65, 500, 1_000, 2_000, 100_000])
def test_g06_a_nested_body_is_refused(app: RunningApp, levels: int) -> None:
    """A body nested deeper than 64 levels is rejected, wherever the nesting is."""
    nest = "[" * levels + "]" * levels
    for body in (nest, f'{{"model":"openai/sim","prompt":"a","provider":{{"x":{nest}}}}}'):
        response = app.client.post("/api/chat/stream", content=body.encode())
        assert response.status_code in (400, 422)
        assert error_of(response)["code"] in ("INVALID_JSON", "INVALID_REQUEST")


def test_g06_the_operators_routes_are_bounded_too(app: RunningApp) -> None:
    """Operator routes have a small body limit."""
    token = {"authorization": f"Bearer {app.app.state.admin_token.value}"}
    response = app.client.put("/api/flags/tool_loop_v2", content=b"x" * 1_000_000, headers=token)
    assert (response.status_code, error_of(response)["code"]) == (413, "BODY_TOO_LARGE")


# --- streams ---


def test_g06_runs_at_once_are_limited(start_app: StartApp) -> None:
    """One run over the limit is a 503, and a finished run frees a slot."""
    app, upstream = start_app(holds, settings={"signalbox_max_runs": 2})
    with app.asking() as first, app.asking() as second:
        refused = app.post(prompt="One more")
        assert (refused.status_code, error_of(refused)["code"]) == (503, "TOO_MANY_RUNS")
        for response in (first, second):
            app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
        assert len(upstream.asked) <= 2
    assert app.call(lambda: len(app.parts.runs._live)) == 0


def test_g06_subscribers_are_limited(start_app: StartApp) -> None:
    """The limit of open streams counts questions and subscribers; an end frees a slot."""
    app, upstream = start_app(holds, settings={"signalbox_max_streams": 2})
    with app.asking() as first, app.asking() as second:
        url = f"/api/runs/{first.headers['x-run-id']}/events"
        for refused in (app.client.get(url), app.post(prompt="One more")):
            assert (refused.status_code, error_of(refused)["code"]) == (503, "TOO_MANY_STREAMS")
        assert len(upstream.asked) <= 2
        for response in (first, second):
            app.client.post(f"/api/runs/{response.headers['x-run-id']}/stop")
            response.read()
        assert app.client.get(url).status_code == 200
    assert app.call(lambda: app.parts.streams.open) == 0


def test_g06_a_slow_reader_has_little_waiting(app: RunningApp, start_app: StartApp) -> None:
    """Of a long run that a slow client replays, only a few hundred events are encoded at a time."""
    texts = [f"word{n} " for n in range(2_000)]
    slow, _ = start_app(says(*texts))
    heard = check_stream(slow.post(prompt="Go", tools=[]).content)
    run_id = heard.ids[0].partition(":")[0]
    record = slow.run(run_id).record()

    async def first_writes() -> list[int]:
        stream = run_response(record, V1, slow.parts, slow.parts.streams.acquire(""), after=0)
        assert isinstance(stream, EventStream)
        pieces = [piece async for batch in stream._body for piece in stream._chunks(batch)]
        return [piece.count(b"\n\n") for piece in (*pieces, stream.last)]

    writes = slow.within(first_writes())
    assert sum(writes) == len(heard.events)
    assert max(writes) <= 256
    del app


# --- the upstream's frames ---


def endless(start: bytes) -> Any:
    """Send a frame that never ends, until the client disconnects."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")
        await exchange.send(start)
        while True:
            await exchange.send(b"x" * 65536)

    return script


@pytest.mark.parametrize(
    "start",
    [b'data: {"choices":[{"delta":{"content":"', b": comment ", b"event: ", b"id: ", b"junk"],
    ids=["data", "comment", "event", "id", "junk"],
)
def test_g06_a_frame_without_end_ends_the_run(
    start_app: StartApp, monkeypatch: pytest.MonkeyPatch, start: bytes
) -> None:
    """An endless line is an error at the limit, with the text so far, and the upstream is closed."""
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 1024 * 1024)
    app, upstream = start_app(endless(start))
    heard = app.ask("Go.", tools=[])
    assert heard.text == "So far"
    assert (heard.done["status"], heard.done["code"]) == ("error", "UPSTREAM_PROTOCOL")
    assert upstream.wait_until(lambda: len(upstream.left) == 1)


def test_g06_many_lines_of_one_frame_end_the_run_as_well(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data lines of one frame count together."""
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 100_000)

    async def lines(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("So far")
        while True:
            await exchange.send(b"data: " + b"x" * 1000 + b"\n")

    app, _ = start_app(lines)
    heard = app.ask("Go.", tools=[])
    assert (heard.done["status"], heard.done["code"]) == ("error", "UPSTREAM_PROTOCOL")


# --- results, steps, searches ---


@pytest.mark.parametrize("loop", [True, False], ids=["v2", "legacy"])
def test_g05_eight_long_results_of_one_step_are_bounded_together(start_app: StartApp, loop: bool) -> None:
    """The results of a step are cut to about 100,000 characters in total, with a notice."""
    app, upstream = start_app(
        obeys([("open_page", {"n": n}) for n in range(8)]),
        settings={"tool_loop_v2": loop},
        extra_tools=[page_tool(lambda: {"text": "x" * 50_000})],
    )
    app.client.timeout = 30
    assert app.ask("Go.").done["status"] == "complete"
    results = tool_messages(upstream.asked[-1].body)
    assert len(results) == 8
    assert sum(map(len, results)) < 120_000
    assert all("ask for less" in result for result in results)
    assert "the results of this answer are many" in results[-1]


def test_g06_a_model_that_never_ends_is_ended(start_app: StartApp) -> None:
    """Endless calls stop at the step limit, searches at theirs."""
    step = [("search_web", {"query": f"q{n}"}) for n in range(12)]
    app, upstream = start_app(obeys(*[step] * 50))
    heard = app.ask("Go.", max_steps=4, max_searches=5)
    assert len(upstream.asked) <= 4 + 1
    assert sum(event["name"] == "search_web" for event in heard.of("tool_executing")) <= 5
    assert heard.done["type"] == "done"


def test_g06_thousands_of_calls_in_one_step_take_their_turns(start_app: StartApp) -> None:
    """Of five hundred calls at once, at most eight run concurrently, and each has a result."""
    running, most = [0], [0]

    def count() -> Any:
        return {"most": most[0]}

    tool = page_tool(count)
    original = tool.run

    async def watched(arguments: Any, context: Any) -> Any:
        running[0] += 1
        most[0] = max(most[0], running[0])
        await asyncio.sleep(0)
        running[0] -= 1
        return await original(arguments, context)

    from dataclasses import replace

    app, _ = start_app(obeys([("open_page", {"n": n}) for n in range(500)]), extra_tools=[replace(tool, run=watched)])
    heard = app.ask("Go.")
    assert len(heard.of("tool_result")) == len(heard.calls) == 500
    assert most[0] <= 8


def test_g06_arguments_without_end_are_refused(start_app: StartApp) -> None:
    """Arguments with megabytes or thousands of levels give an error result."""
    deep = '{"expression":' + "[" * 5_000 + "]" * 5_000 + "}"
    long = json.dumps({"expression": "1+" * 500_000 + "1"})

    def step(arguments: str) -> Iterator[bytes]:
        function = {"name": "calculate", "arguments": arguments}
        yield chunk({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": function}]})
        yield chunk({}, finish="tool_calls")

    for arguments in (deep, long):

        async def script(exchange: Exchange, arguments: str = arguments) -> None:
            await exchange.head()
            for frame in step(arguments):
                await exchange.send(frame)
            await exchange.end()

        app, upstream = start_app(script, says("Well."))
        heard = app.ask("Go.")
        assert heard.done["status"] == "complete"
        assert len(heard.result_codes()) == 1
        assert heard.result_codes()[0] is not None
        assert len(upstream.asked) == 2
