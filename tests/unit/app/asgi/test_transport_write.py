"""Direct writes to uvicorn's transport: the same bytes as with `send`, and none if `send` must be used."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import uvicorn
from signalbox.app.asgi.transport_write import direct_write
from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio
START: Message = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]}
END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


def piece(body: bytes) -> Message:
    """Return a message with a chunk of a body."""
    return {"type": "http.response.body", "body": body, "more_body": True}


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[httpx.AsyncClient]:
    """Serve an app with the real uvicorn for a real client."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http="httptools", lifespan="off", log_config=None, access_log=False))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=30, verify=False) as client:
            yield client
    finally:
        server.should_exit = True
        await serving


async def test_chunks_arrive_in_order() -> None:
    """Direct writes and `send` may be mixed."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert direct_write(send) is None  # the head is not sent yet
        await send(START)
        write = direct_write(send)
        assert write is not None, "uvicorn has changed: see signalbox/app/asgi/transport_write.py"
        assert write(b"one ")
        assert write(b"")  # which would end the body
        await send(piece(b"two "))
        assert write(b"three " * 20)
        await send(END)
        assert not write(b"late")

    async with served(app) as client:
        answer = await client.get("/")
        assert answer.text == "one two " + "three " * 20
        assert answer.headers["transfer-encoding"] == "chunked"
        assert (await client.get("/")).text == answer.text  # the connection is kept


@pytest.mark.parametrize(
    ("method", "headers"), [("HEAD", []), ("GET", [(b"content-length", b"4")])], ids=["a head alone", "a known length"]
)
async def test_a_response_without_chunks_has_no_direct_write(method: str, headers: list[Any]) -> None:
    """A response with a length must use `send`."""
    found: list[object] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({**START, "headers": headers})
        found.append(direct_write(send))
        await send({**piece(b"four"), "more_body": False})

    async with served(app) as client:
        await client.request(method, "/")
    assert found == [None]


async def test_a_full_connection_uses_send() -> None:
    """If the connection is full, the direct write refuses, and `send` waits."""
    refused: list[bool] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(START)
        write = direct_write(send)
        assert write is not None
        while write(b"x" * 65536):
            pass
        refused.append(True)
        await send(piece(b"waited"))
        await send(END)

    async with served(app) as client, client.stream("GET", "/") as answer:
        await _until(lambda: bool(refused))
        body = b"".join([read async for read in answer.aiter_bytes()])
    assert body.endswith(b"xwaited")


async def test_nothing_is_written_after_a_disconnect() -> None:
    """After a disconnect the direct write refuses."""
    gone: list[bool] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(START)
        write = direct_write(send)
        assert write is not None
        assert write(b"one")
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.append(write(b"two"))

    async with served(app) as client:
        async with client.stream("GET", "/") as answer:
            assert await anext(answer.aiter_bytes()) == b"one"
        await _until(lambda: bool(gone))
    assert gone == [False]


async def test_other_servers_have_no_direct_write() -> None:
    """A `send` of another server, or one that a middleware wraps, has no direct write."""

    async def send(message: Message) -> None:
        """Do nothing."""

    assert direct_write(send) is None


async def _until(holds: Any) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - a state without an event
            await asyncio.sleep(0)
