"""A proxy that only copies bytes, if nginx is not installed: `python -m tests.bench.relay PORT UPSTREAM_PORT`."""

import asyncio
import sys
from typing import Any

import uvloop

from tests.bench.cpu_reporting import report_cpu_in_background


class Downstream(asyncio.Protocol):
    """A client's connection, with a separate upstream connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._early = b""
        self._dialling: asyncio.Task[None] | None = None
        self.transport: Any = None
        self.up: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._dialling = asyncio.create_task(self._dial())

    async def _dial(self) -> None:
        loop = asyncio.get_running_loop()
        self.up, _ = await loop.create_connection(lambda: _Up(self.transport), "127.0.0.1", self._port)
        self.up.write(self._early)

    def data_received(self, data: bytes) -> None:
        if self.up is None:
            self._early += data
        else:
            self.up.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.up is not None:
            self.up.close()


class _Up(asyncio.Protocol):
    def __init__(self, down: Any) -> None:
        self._down = down

    def data_received(self, data: bytes) -> None:
        self._down.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._down.close()


async def _serve(port: int, upstream: int) -> None:
    server = await asyncio.get_running_loop().create_server(
        lambda: Downstream(upstream), "127.0.0.1", port, backlog=4096
    )
    await server.serve_forever()


if __name__ == "__main__":
    report_cpu_in_background()
    uvloop.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
