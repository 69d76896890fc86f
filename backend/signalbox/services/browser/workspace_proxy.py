"""The HTTP proxy of a browser: it serves the files of a workspace under one host, and rejects every other request.

The browser sends all requests to its proxy and resolves no names, so a page reaches nothing else.
"""

import asyncio
from secrets import token_hex
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit

from signalbox.core.errors import ToolError
from signalbox.core.workspace import Workspace, is_image

_LONGEST_HEAD = 32 * 1024
_REJECTED = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_MISSING = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class WorkspaceProxy:
    """A proxy on a loopback port while its context is open.

    The host has a random name, so that other programs of the machine cannot read the files through the port.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.origin = f"http://{token_hex(16)}.invalid"

    async def __aenter__(self) -> Self:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0, limit=_LONGEST_HEAD)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None):
        """Close the port and all connections."""
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()

    @property
    def address(self) -> str:
        """The address for `--proxy-server`."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(await self._response(head.partition(b"\r\n")[0].decode("latin-1")))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            return  # the browser left, or sent no request
        finally:
            self._open.discard(writer)
            writer.close()

    async def _response(self, line: str) -> bytes:
        """Return the response to a request line. `CONNECT`, other hosts and other methods are rejected."""
        method, _, rest = line.partition(" ")
        target = rest.partition(" ")[0]
        if method not in ("GET", "HEAD") or not target.startswith(f"{self.origin}/"):
            return _REJECTED
        path = unquote(urlsplit(target).path)[1:]
        try:
            found = await self._workspace.find(f"{path}index.html" if not path or path.endswith("/") else path)
        except ToolError:
            found = None
        if found is None:
            return _MISSING
        kind = found.version.media_type
        fields = [
            "HTTP/1.1 200 OK",
            f"content-type: {kind if is_image(kind) else f'{kind}; charset=utf-8'}",
            f"content-length: {len(found.content)}",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "connection: close",
        ]
        head = "\r\n".join([*fields, "", ""]).encode()
        return head if method == "HEAD" else head + found.content
