"""A client that disconnects while the model streams and a tool of the server works: both end at once."""

import json
import socket
from time import monotonic

import pytest

from tests.scenarios.hand_over.test_mixed_steps import LOOPS, Lingering
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.running_app import WAIT
from tests.support.scripted_upstream import Exchange, call_chunk, chunk

PROMPTLY = 1.0


async def calls_and_streams_on(exchange: Exchange) -> None:
    """Call a tool; a streamed answer stays open behind the call, until the client disconnects."""
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "linger", "arguments": "{}"}}
    if not exchange.asked.body["stream"]:
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        await exchange.whole(200, json.dumps({"id": "gen-1", "choices": [choice]}).encode())
        return
    await exchange.head()
    await exchange.send(call_chunk("linger", "{}"))
    await exchange.send(chunk({"tool_calls": [{**call, "index": 1, "id": "call_2"}]}))
    await exchange.client_left()


@LOOPS
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_disconnect_ends_upstream_and_tool(start_app: StartApp, loop: str, stream: bool) -> None:
    """V2 has both at the same time, legacy only the tool; the run is cancelled, and no request follows."""
    lingering = Lingering()
    app, upstream = start_app(
        calls_and_streams_on,
        extra_tools=[make_tool("linger", lingering.run, eager=True, timeout=60)],
        settings={"tool_loop_v2": loop == "v2"},
    )
    asked = {"model": "openai/sim", "stream": stream, "messages": [{"role": "user", "content": "Go."}]}
    body = json.dumps(asked).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-signalbox-tools: linger\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", app.port)) as client:
        client.sendall(head.encode() + body)
        assert lingering.started.wait(WAIT)
        [run] = app.client.get("/api/runs").json()["runs"]
    left = monotonic()
    assert lingering.cancelled.wait(WAIT)
    if loop == "v2":
        assert upstream.wait_until(lambda: len(upstream.left) == 1)
    done = app.over(run["run_id"]).done
    assert done is not None
    assert done.status == "cancelled"
    assert monotonic() - left < PROMPTLY
    assert len(upstream.asked) == 1
