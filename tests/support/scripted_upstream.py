"""A provider that sends exactly the bytes that a test scripts, on a loopback port in a separate thread."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self

WAIT = 10.0
DONE = b"data: [DONE]\n\n"
_CHAT_PATHS = ("/chat/completions", "/responses", "/v1/messages", ":streamGenerateContent?alt=sse", ":generateContent")
Script = Callable[["Exchange"], Awaitable[None]]


@dataclass
class Asked:
    """A received request."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)


@dataclass
class Exchange:
    """A received request, and methods that send the response."""

    asked: Asked
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    upstream: "ScriptedUpstream"
    keep: bool = False

    async def head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        """Send the head of a chunked response."""
        fields = {"content-type": kind, "transfer-encoding": "chunked", **headers}
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{k.replace('_', '-')}: {v}" for k, v in fields.items())]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def send(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def send_text(self, text: str) -> None:
        await self.send(chunk({"content": text}))

    async def end(self, *, done: bool = True) -> None:
        if done:
            await self.send(chunk({}, finish="stop") + DONE)
        await self.raw(b"0\r\n\r\n")

    async def whole(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        """Send a complete response with this body."""
        fields = {"content-type": kind, "content-length": str(len(body)), **headers}
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{k.replace('_', '-')}: {v}" for k, v in fields.items())]
        await self.raw("\r\n".join([*lines, "", ""]).encode() + body)

    async def client_left(self) -> None:
        """Wait until the client has closed the connection; add the request to `left`."""
        try:
            while await self.reader.read(65536):
                pass
        except ConnectionError:
            pass
        self.upstream.notify(lambda: self.upstream.left.append(self.asked))

    async def gate_opened(self) -> None:
        """Wait until the test sets `opened`."""
        await asyncio.to_thread(self.upstream.opened.wait, WAIT)


class ScriptedUpstream:
    """Plays one script per chat request and repeats the last one; `models` is the script of /models."""

    def __init__(self, *scripts: Script, models: Script | None = None, path: str = "/api/v1") -> None:
        self._scripts = list(scripts)
        self._models = models
        self._path = path
        self.asked: list[Asked] = []
        self.catalogues: list[Asked] = []
        self.left: list[Asked] = []
        self.opened = threading.Event()
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="scripted", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self._path}"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT)
        return self

    def __exit__(self, *error: object) -> None:
        self.opened.set()
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(WAIT)
        assert not self._thread.is_alive()

    def notify(self, change: Callable[[], None]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()

    def wait_until(self, holds: Callable[[], bool], seconds: float = WAIT) -> bool:
        """Wait until a condition on the received requests holds; return False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(holds, seconds)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=64 * 1024 * 1024, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve_connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection stays open."""
        exchange = Exchange(await self._read(reader), reader, writer, self)
        try:
            await self._pick(exchange.asked)(exchange)
        except ConnectionError:  # the client disconnected
            self.notify(lambda: self.left.append(exchange.asked))
            raise
        return exchange.keep

    async def _read(self, reader: asyncio.StreamReader) -> Asked:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(method, path, headers, raw)
        kept = self.asked if self._is_chat(path) else self.catalogues
        self.notify(lambda: kept.append(asked))
        return asked

    def _is_chat(self, path: str) -> bool:
        """Return whether a path asks a model, in one of the dialects."""
        return path.endswith(_CHAT_PATHS)

    def _pick(self, asked: Asked) -> Script:
        if not self._is_chat(asked.path):
            return self._models or no_models
        return self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]


def chunk(delta: dict[str, Any], *, finish: str | None = None, **fields: Any) -> bytes:
    """Return an SSE frame with one chat completion chunk."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": "gen-scripted", "provider": "Scripted", "model": "openai/sim", "choices": [choice], **fields}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def call_chunk(name: str, arguments: str, *, index: int = 0, call_id: str = "call_1") -> bytes:
    """Return an SSE frame with a complete tool call."""
    function = {"name": name, "arguments": arguments}
    return chunk({"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]})


async def no_models(exchange: Exchange) -> None:
    """Answer 404 for the catalogue, so that every model id is accepted."""
    await exchange.whole(404, b'{"error":{"code":404,"message":"Not Found"}}')


def says(*texts: str) -> Script:
    """Make a script that streams these texts and finishes with `stop`."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        for text in texts:
            await exchange.send_text(text)
        await exchange.end()

    return script


def sends(*pieces: bytes, status: int = 200, kind: str = "text/event-stream", **headers: str) -> Script:
    """Make a script that sends these bytes as a chunked body and ends it cleanly."""

    async def script(exchange: Exchange) -> None:
        await exchange.head(status, kind, **headers)
        for piece in pieces:
            await exchange.send(piece)
        await exchange.raw(b"0\r\n\r\n")

    return script


def calls_then(*frames: bytes) -> Script:
    """Make a script that sends these frames and finishes with `tool_calls`."""
    return sends(*frames, chunk({}, finish="tool_calls") + DONE)


async def holds(exchange: Exchange) -> None:
    """Send some text, then nothing until the client disconnects."""
    await exchange.head()
    await exchange.send_text("So far")
    await exchange.client_left()


async def silent(exchange: Exchange) -> None:
    """Send nothing, not even a response head, until the client disconnects."""
    await exchange.client_left()


async def waits(exchange: Exchange) -> None:
    """Send some text, wait until the test opens the gate, then send the rest."""
    await exchange.head()
    await exchange.send_text("First ")
    await exchange.gate_opened()
    await exchange.send_text("second.")
    await exchange.end()
