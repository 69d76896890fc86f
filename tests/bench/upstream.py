"""The Python upstream, if the C one cannot be built: `python -m tests.bench.upstream PORT`."""

import asyncio
import re
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson
import uvloop

from tests.bench.dialect_frames import dialect_of, dialect_script
from tests.bench.frames import COMMENT, HEAD, Script
from tests.support.hostile.upstream import ANSWER, PLAIN, answer_of

# The answer after tool results.
_ANSWER_SCRIPT = "fast-20"
# Gemini's requests name the model in their path.
_MODEL = re.compile(rb'"model"\s*:\s*"(?:[^"]*/)?([^"/]*)"')
_MODEL_IN_PATH = re.compile(rb"POST /v1beta/models/([^:/]+):")
_RESULT = re.compile(rb'"role"\s*:\s*"tool"')
_HOSTILE = re.compile(rb'"model"\s*:\s*"(?:hostile|qwen|tool)/')
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
# Deltas per write, about 64 KB.
_BATCH = 180


class Upstream(asyncio.Protocol):
    """A connection of the server under test; it has one request at a time."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._seen = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._is_full = False
        self._script = Script((), b"")
        self._sent = 0
        self._began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_full = True
        if self._timer is not None:
            self._timer.cancel()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        if self._sent < len(self._script.deltas):
            self._pump()

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head = self._seen.find(b"\r\n\r\n") + 4
        if head < 4:
            return
        length = _LENGTH.search(self._seen, 0, head)
        end = head + (int(length[1]) if length else 0)
        if len(self._seen) < end:
            return
        request = bytes(self._seen[:end])
        del self._seen[:end]
        if request.startswith(b"GET"):
            self._transport.write(_empty_catalogue())
        elif _HOSTILE.search(request, head):
            self._transport.writelines(hostile_answer(request[head:]))
        else:
            self._begin(dialect_script(dialect_of(request), script_name(request)))

    def _begin(self, script: Script) -> None:
        self._script, self._sent, self._began = script, 0, asyncio.get_running_loop().time()
        self._transport.write(HEAD + COMMENT)
        self._pump()

    def _pump(self) -> None:
        """Write the deltas that are due until the socket is full; schedule the rest."""
        script, loop = self._script, asyncio.get_running_loop()
        while self._sent < len(script.deltas) and not self._is_full:
            most = _BATCH
            if script.period:  # one write per delta
                due = self._began + self._sent * script.period * (self._sent >= script.at_once)
                if due > loop.time():
                    self._timer = loop.call_at(due, self._pump)
                    return
                most = 1
            self._transport.write(script.encode(self._sent, most, time.monotonic_ns() // 1000))
            self._sent += most
            if self._sent >= len(script.deltas):
                self._transport.write(script.ending)


def hostile_answer(body: bytes) -> Iterator[bytes]:
    """Yield an answer in the shape that the model's name selects, or a plain one after tool results."""
    shape, pieces = answer_of(orjson.loads(body)) or (PLAIN, iter([ANSWER]))
    head = f"HTTP/1.1 {shape.status} x\r\ncontent-type: {shape.kind}\r\ntransfer-encoding: chunked\r\n\r\n"
    yield head.encode()
    for piece in filter(None, pieces):
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def script_name(request: bytes) -> str:
    """Return the name of the script that a request selects."""
    model = _MODEL_IN_PATH.match(request) or _MODEL.search(request)
    name = model[1].decode() if model else ""
    is_over = not name.startswith(("fast-", "paced-")) and _RESULT.search(request) is not None
    return _ANSWER_SCRIPT if is_over else name


def _empty_catalogue() -> bytes:
    """Return the response to a GET request: an empty catalogue, with which the server accepts every model id."""
    body = b'{"data":[]}'
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


async def _serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
