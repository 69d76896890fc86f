"""A provider on a loopback port; model ids select the hostile response: `hostile/SHAPE-SIZE`."""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tests.support.hostile.shape import JSON, STREAM, Shape
from tests.support.hostile.shapes import SHAPES
from tests.support.scripted_upstream import DONE, chunk

_ID = re.compile(r"(?:hostile|qwen)/(?P<shape>[a-z0-9-]+)-(?P<size>\d+)")
# A call of a tool that returns this many bytes of a kind: tool/NAME/KIND-SIZE.
_TOOL_ID = re.compile(r"tool/(?P<name>\w+)/(?P<kind>[a-z-]+)-(?P<size>\d+)")
PLAIN = Shape(lambda _: iter(()), (0, 0))
ANSWER = chunk({"content": "Done."}) + chunk({}, finish="stop") + DONE


def answer_of(body: dict[str, Any]) -> tuple[Shape, Iterator[bytes]] | None:
    """Return the shape and pieces of a hostile response; None after tool results and for other models."""
    if body["messages"][-1]["role"] != "user":
        return None
    if asked := _TOOL_ID.fullmatch(str(body["model"])):
        call = _call_of(asked["name"], {"kind": asked["kind"], "size": int(asked["size"])})
        return PLAIN, iter((chunk({"tool_calls": [call]}), chunk({}, finish="tool_calls") + DONE))
    if (asked := _ID.fullmatch(str(body["model"]))) is None:
        return None
    shape = SHAPES[asked["shape"]]
    return shape, shape.body(int(asked["size"]))


def _call_of(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": 0, "id": "call_0", "type": "function", "function": function}


async def conversation(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = re.search(r"content-length: *(\d+)", head)
            raw = await reader.readexactly(int(length[1]) if length else 0)
            if "/chat/completions" not in head.split("\r\n", 1)[0]:
                await _send(writer, 200, JSON, [b'{"data":[]}'])
            else:
                await _answer(writer, json.loads(raw))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _answer(writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
    """Send the hostile response, or a short text after tool results."""
    hostile = answer_of(body)
    if hostile is None:
        await _send(writer, 200, STREAM, [ANSWER])
    else:
        shape, pieces = hostile
        await _send(writer, shape.status, shape.kind, pieces, by_byte=shape.by_byte)


async def _send(
    writer: asyncio.StreamWriter, status: int, kind: str, pieces: Iterable[bytes], *, by_byte: bool = False
) -> None:
    writer.write(f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
    for piece in pieces:
        if piece:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
        if by_byte:
            await asyncio.sleep(0)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def serve() -> None:
    """Print the address in the format of `signalbox serve`, then serve until the process ends."""
    server = await asyncio.start_server(conversation, "127.0.0.1", 0, limit=256 * 1024 * 1024)
    print(f"Signalbox is ready: http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
