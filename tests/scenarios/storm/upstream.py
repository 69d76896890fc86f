"""The storm's upstream: the simulator with all its faults, and ten streams that model ids cut."""

import asyncio
import json
import re
import socket
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import uvicorn
from signalbox.simulator.http.app import create_simulator
from starlette.types import Message, Receive, Scope, Send

from tests.scenarios.cut_streams.oracle import ANSWER
from tests.scenarios.cut_streams.streams import NOTE, STREAMS, answer
from tests.scenarios.storm.tool_names import WRITES
from tests.support.hostile.shape import Shape
from tests.support.hostile.upstream import answer_of

_CUT = re.compile(r"[a-z-]+/cut-(?P<stream>\d+)-(?P<byte>\d+)-(?P<how>clean|broken)")
# A few bytes per write: with pauses, one response would take a minute.
_DRIPPING = ("sim-drip", "sim-quirk-e06")
_BILL = {"data": {"total_cost": 0.0001, "tokens_prompt": 9, "tokens_completion": 3, "model": "m", "cancelled": True}}


class Front:
    """Answers for models named `…/cut-STREAM-BYTE-HOW`, has an empty catalogue, and bills every generation equally."""

    def __init__(self, pace: float) -> None:
        self._simulator = create_simulator(pace=pace)
        self._hurried = create_simulator(pace=0.0)
        self._seen = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"].endswith("/models"):
            await _json(send, {"data": []})  # with an empty catalogue every id is accepted
        elif scope["path"].endswith("/generation"):
            await _json(send, _BILL)
        else:
            await self._chat(scope, receive, send)

    async def _chat(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await _body(receive)
        body = json.loads(raw)
        if hostile := answer_of(body):
            await _send_all(send, *hostile)
            return
        cut = _CUT.fullmatch(body["model"])
        if cut is None:
            simulator = self._hurried if body["model"].endswith(_DRIPPING) else self._simulator
            await simulator(scope, _replay_body(raw, receive), send)
            return
        key = body["messages"][-1]["content"]
        is_first = False
        if all(message["role"] != "assistant" for message in body["messages"]):
            self._seen[key] += 1
            is_first = self._seen[key] == 1
            stream = list(STREAMS.values())[int(cut["stream"])]
        else:
            stream = answer(ANSWER)
        whole = (stream.raw if body.get("stream") else stream.body).replace(NOTE.encode(), WRITES.encode())
        kind = b"text/event-stream" if body.get("stream") else b"application/json"
        part = whole[: int(cut["byte"])] if is_first else whole
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        if part:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        if not (is_first and cut["how"] == "broken"):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_all(send: Send, shape: Shape, pieces: Iterable[bytes]) -> None:
    headers = [(b"content-type", shape.kind.encode())]
    await send({"type": "http.response.start", "status": shape.status, "headers": headers})
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(receive: Receive) -> bytes:
    pieces: list[bytes] = []
    while True:
        message = await receive()
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


def _replay_body(raw: bytes, receive: Receive) -> Receive:
    """Return a receive function that yields the read body, then further messages."""
    first: list[Message] = [{"type": "http.request", "body": raw, "more_body": False}]

    async def bills() -> Message:
        return first.pop() if first else await receive()

    return bills


async def _json(send: Send, value: Any) -> None:
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(value).encode(), "more_body": False})


def main(pace: float) -> None:
    """Print the address in the format of `signalbox serve`, then serve until stopped."""
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        print(f"Signalbox is ready: http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(Front(pace), log_config=None, lifespan="off", access_log=False)
        config.log_level, config.timeout_graceful_shutdown = "critical", 1
        server = uvicorn.Server(config)
        asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main(float(sys.argv[1]))
