"""A minimal HTTP client: one connection per request, and no parsing beyond what the storm needs."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import orjson


@dataclass
class Asked:
    """One open request; `body` is the part of the response body that has arrived."""

    port: int
    method: str
    path: str
    sent: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    status: int = 0
    run_id: str = ""
    body: bytes = b""
    _reader: asyncio.StreamReader = field(init=False)
    _writer: asyncio.StreamWriter = field(init=False)

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        data = b"" if self.sent is None else orjson.dumps(self.sent)
        fields = {
            "host": "127.0.0.1",
            "content-type": "application/json",
            "content-length": str(len(data)),
            "connection": "close",
            **self.headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self._writer.write(f"{self.method} {self.path} HTTP/1.1\r\n{head}\r\n".encode() + data)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.transport.abort()

    async def answer(self) -> Self:
        """Wait for the response head."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        self.status = int(head[0].split(" ")[1])
        self.run_id = fields.get("x-run-id", "")
        self._chunked = fields.get("transfer-encoding") == "chunked"
        return self

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; raise IncompleteReadError if its end is missing."""
        if not self._chunked:
            self.body = await self._reader.read()
            yield self.body
            return
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            piece = (await self._reader.readexactly(size + 2))[:-2]
            self.body += piece
            yield piece
        await self._reader.readexactly(2)

    async def rest(self) -> bytes:
        """Read the body to its end."""
        async for _ in self.pieces():
            pass
        return self.body


async def fetch(port: int, method: str, path: str) -> tuple[int, Any]:
    """Request JSON; return status and value."""
    async with Asked(port, method, path) as asked:
        body = await (await asked.answer()).rest()
        return asked.status, orjson.loads(body)
