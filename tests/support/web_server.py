"""A web server on loopback that sends one raw response per request and records the requests."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson


def reply(body: bytes | str = b"", *, status: int = 200, kind: str = "text/html", **headers: str) -> bytes:
    """Return a complete response."""
    raw = body.encode() if isinstance(body, str) else body
    fields: Mapping[str, str] = {"content-type": kind, "content-length": str(len(raw)), "connection": "close"}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in {**fields, **headers}.items() if value]
    return "\r\n".join([f"HTTP/1.1 {status} Scripted", *lines, "", ""]).encode() + raw


def json_reply(value: object, **given: Any) -> bytes:
    """Return a response with a value as JSON."""
    return reply(orjson.dumps(value), kind="application/json", **given)


@dataclass
class Asked:
    """A received request."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.line.split(" ")[1]

    @property
    def params(self) -> dict[str, str]:
        return {name: values[-1] for name, values in parse_qs(urlsplit(self.path).query).items()}

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


@dataclass
class Site:
    """A server that sends its responses in turn and repeats the last one; for None it never responds."""

    answers: list[bytes | None]
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            self.asked.append(Asked(head[0], headers, body))
            self.arrived.set()
            answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
            if answer is None:
                await reader.read()  # until the client disconnects
            else:
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.left.set()
            writer.close()


@asynccontextmanager
async def site(*answers: bytes | None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    """Serve the responses on a free port of loopback."""
    made = Site(list(answers))
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        made.port = server.sockets[0].getsockname()[1]
        yield made
