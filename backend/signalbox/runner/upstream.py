"""Upstream: where a program's runs call their models."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

from msgspec import Struct

from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.runner.upstream_arguments import (
    check_path,
    checked_count,
    checked_header,
    checked_key,
    checked_prices,
    checked_seconds,
    checked_url,
    shown_url,
)

if TYPE_CHECKING:  # the HTTP client takes more time than all other imports, so the first run imports it
    from signalbox.services.http.client import HttpClient
    from signalbox.services.upstream import UpstreamClient


class _Connections(Struct, eq=False):
    """The connections of one event loop, and by how many runs they are used."""

    http: "HttpClient"
    client: "UpstreamClient"
    users: int = 0


class Upstream:
    """A server with models. `at` is its name ("openrouter", "openai", "anthropic" or "gemini") or its base URL.

    `key` is the API key, or `env:NAME` to read the key from the environment variable NAME. If `at` is a name, the
    default key comes from the environment variable of this server, such as `OPENAI_API_KEY`.

    `dialect` names the API. By default, the base URL determines the API. If the URL ends with `/api/v1`, the API is
    OpenRouter's. If the URL ends with `/anthropic` or is the URL of Anthropic, the API is Anthropic's Messages API. If
    the URL is the URL of Google, the API is the Gemini API. For any other URL, the API is OpenAI's chat completions.

    `connect_timeout`, `idle_timeout` and `progress_timeout` are in seconds. `idle_timeout` is the maximum time without
    data from the server. `progress_timeout` is the maximum time in which the server sends only keep-alives. `prices`
    maps a model to its two prices in USD per million tokens: first for the prompt, then for the completion. Signalbox
    uses `prices` if the server reports no costs.

    All runs that use an `Upstream` share its connections. When the last run ends, `Upstream` closes these connections.
    With `async with upstream`, the connections stay open until the end of the block. If an argument is invalid,
    `Upstream` raises RequestError.
    """

    def __init__(
        self,
        at: str,
        key: str | None = None,
        *,
        dialect: str | None = None,
        referer: str | None = None,
        title: str | None = None,
        prices: Mapping[str, tuple[float, float]] | None = None,
        connect_timeout: float = 10,
        idle_timeout: float = 120,
        progress_timeout: float = 900,
        max_connections: int = 1000,
    ) -> None:
        from signalbox.wire.dialect import Upstream as UpstreamServer
        from signalbox.wire.dialects import DIALECTS, HOSTS, dialect_at

        host = HOSTS.get(checked_url(at, HOSTS))
        if dialect is not None and dialect not in DIALECTS:
            words = f"dialect: there is no dialect {dialect!r:.80}; there are: {', '.join(DIALECTS)}"
            raise RequestError(Code.INVALID_REQUEST, words, "dialect")
        base_url = host.base_url if host else at
        self.dialect = DIALECTS[dialect] if dialect else dialect_at(base_url)
        check_path(base_url, self.dialect.path_of("", stream=True))
        self._server = UpstreamServer(
            self.dialect,
            base_url,
            checked_key(key, f"env:{host.key_variable}" if host else None),
            checked_header("referer", referer),
            checked_header("title", title),
        )
        self.prices: dict[str, Prices] = checked_prices({} if prices is None else prices)
        self._connect_timeout = checked_seconds("connect_timeout", connect_timeout)
        self._idle_timeout = checked_seconds("idle_timeout", idle_timeout)
        self._progress_timeout = checked_seconds("progress_timeout", progress_timeout)
        self._max_connections = checked_count("max_connections", max_connections)
        # A connection belongs to the event loop that opened it.
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connections] = WeakKeyDictionary()

    def __repr__(self) -> str:
        """Show neither the key nor a password."""
        return f"Upstream({shown_url(self._server.base_url)!r}, dialect={self.dialect.name!r})"

    async def __aenter__(self) -> Self:
        """Keep connections open between runs."""
        self._acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._release(self._open[asyncio.get_running_loop()])

    @asynccontextmanager
    async def connected(self) -> "AsyncGenerator[UpstreamClient]":
        """Lend the client to one run."""
        connections = self._acquire()
        try:
            yield connections.client
        finally:
            await self._release(connections)

    def _acquire(self) -> _Connections:
        from signalbox.runner.upstream_client import ProgramClient
        from signalbox.services.http.client import HttpClient

        loop = asyncio.get_running_loop()
        connections = self._open.get(loop)
        if connections is None:
            http = HttpClient(
                connect_timeout=self._connect_timeout,
                idle_timeout=self._idle_timeout,
                max_connections=self._max_connections,
            )
            client = ProgramClient(http, self._server, progress_timeout=self._progress_timeout)
            connections = self._open[loop] = _Connections(http, client)
        connections.users += 1
        return connections

    async def _release(self, connections: _Connections) -> None:
        connections.users -= 1
        if not connections.users:
            # They are no longer there if the garbage collector ends the run together with its loop.
            self._open.pop(asyncio.get_running_loop(), None)
            await connections.http.aclose()
