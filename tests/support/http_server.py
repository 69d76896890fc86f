"""A raw HTTP server on loopback that plays one script per connection, and helpers that send requests to it."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from signalbox.services.http.client import HttpClient
from signalbox.services.http.request import PreparedRequest
from signalbox.services.http.response import Response

OK = b"HTTP/1.1 200 OK\r\n"
TWO = OK + b"content-length: 2\r\n\r\nok"
STREAM = OK + b"transfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"

Script = Callable[["Peer"], Awaitable[None]]


@dataclass
class Peer:
    """One accepted connection, as the script sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    server: "Server"

    async def request(self) -> bytes:
        """Read one request, head and body; b"" when the client has closed."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        body = b""
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                body = await self.reader.readexactly(int(line.split(b":")[1]))
        self.server.requests.append(head + body)
        return head + body

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> None:
        """Wait until the client has closed its side."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass
        self.server.left.set()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass
class Server:
    """A server that plays one script per connection."""

    script: Script
    tls: ssl.SSLContext | None = None
    host: str = "127.0.0.1"
    connections: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])
    left: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])
    port: int = 0

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        peer = Peer(reader, writer, self.connections, self)
        self.tasks.append(asyncio.get_running_loop().create_task(self.play(peer)))

    async def play(self, peer: Peer) -> None:
        try:
            await self.script(peer)
        except ConnectionError:
            pass
        finally:
            peer.writer.close()

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self.accept, self.host, 0, ssl=self.tls, limit=2**24)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for task in self.tasks:
            task.cancel()
        results = await asyncio.gather(*self.tasks, return_exceptions=True)
        assert [r for r in results if isinstance(r, Exception)] == []
        await self.server.wait_closed()

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}/v1/chat"


def answering(*answers: bytes) -> Script:
    """Answer the requests of a connection in turn, and repeat the last response."""

    async def script(peer: Peer) -> None:
        turn = 0
        while await peer.request():
            await peer.send(answers[min(turn, len(answers) - 1)])
            turn += 1

    return script


def closing_after(*parts: bytes) -> Script:
    """Answer one request with these bytes and close."""

    async def script(peer: Peer) -> None:
        if await peer.request():
            await peer.send(b"".join(parts))

    return script


async def hanging(peer: Peer) -> None:
    """Read a request and never answer."""
    await peer.request()
    await peer.gone()


async def streaming(peer: Peer) -> None:
    """Begin a body and never end it."""
    await peer.request()
    await peer.send(STREAM + b"2\r\nok\r\n")
    await peer.gone()


class Answer(NamedTuple):
    """A whole response."""

    status: int
    headers: dict[str, str]
    body: bytes


async def fetched(client: HttpClient, url: str, body: bytes | None = None, *, method: str | None = None) -> Answer:
    """Send a GET, or a POST with a body, and return the whole response."""
    request = PreparedRequest(method or ("GET" if body is None else "POST"), url)
    response = await client.send(request, body or b"")
    try:
        pieces = [data async for data in response]
        return Answer(response.status, dict(response.headers), b"".join(pieces))
    finally:
        await response.aclose()


@asynccontextmanager
async def opened(client: HttpClient, url: str, body: bytes | None = None) -> AsyncGenerator[Response]:
    """Send a request like `fetched`; close the response when the block ends."""
    response = await client.send(PreparedRequest("GET" if body is None else "POST", url), body or b"")
    try:
        yield response
    finally:
        await response.aclose()


async def turn_until(condition: Callable[[], bool]) -> None:
    """Let the event loop turn until something holds."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what the client does sets no event
            await asyncio.sleep(0)
