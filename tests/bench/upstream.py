"""The bench's upstream: answers every request with the script that its model is named for."""

import asyncio
from functools import cache
from typing import Any, cast

import orjson
import uvloop

from tests.bench.control import announce, answer_in_background
from tests.bench.frames import COMMENT, HEAD, Script, chunk, scripted

# After the tools have answered, the model says this much.
_CLOSING = "burst-20"


class Upstream(asyncio.Protocol):
    """One connection of the server under test, one request at a time."""

    def __init__(self) -> None:
        self._transport: Any = None
        self._seen = bytearray()
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._seen += data
        head, found, _ = self._seen.partition(b"\r\n\r\n")
        if not found:
            return
        end = len(head) + 4 + _length(head)
        if len(self._seen) < end:
            return
        body = bytes(self._seen[len(head) + 4 : end])
        del self._seen[:end]
        if head.startswith(b"GET"):
            self._transport.write(_nothing())
        else:
            self._answer(orjson.loads(body))

    def _answer(self, request: dict[str, Any]) -> None:
        name = cast(str, request["model"]).rpartition("/")[2]
        if request["messages"][-1]["role"] == "tool":
            name = _CLOSING
        script = _script(name)
        if script.rate:
            self._pace(script, 0, asyncio.get_running_loop().time())
        else:
            self._transport.write(_whole(name))

    def _pace(self, script: Script, place: int, due: float) -> None:
        """Write one frame by itself and come back for the next one when it is due."""
        opening = HEAD + chunk(COMMENT) if place == 0 else b""
        self._transport.write(opening + script.deltas[place])
        if place + 1 == len(script.deltas):
            self._transport.write(script.ending)
            return
        due += 1 / script.rate
        self._timer = asyncio.get_running_loop().call_at(due, self._pace, script, place + 1, due)


@cache
def _script(name: str) -> Script:
    return scripted(name)


@cache
def _whole(name: str) -> bytes:
    return _script(name).whole


def _length(head: bytearray) -> int:
    for line in bytes(head).lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    return 0


def _nothing() -> bytes:
    """Answer any GET with an empty catalogue: then every model id is let through."""
    body = b'{"data":[]}'
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, backlog=2048)
    announce(server.sockets[0].getsockname()[1])
    await server.serve_forever()


if __name__ == "__main__":
    answer_in_background()
    uvloop.run(_serve())
