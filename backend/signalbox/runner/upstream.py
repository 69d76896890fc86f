"""Upstream: where a program's runs call their models."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

from msgspec import Struct

from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

if TYPE_CHECKING:  # the HTTP client takes more time than all other imports, so the first run imports it
    from signalbox.services.http.client import HttpClient
    from signalbox.services.upstream import UpstreamClient

_FROM_ENVIRONMENT = "env:"


class _Connections(Struct, eq=False):
    """The connections of one event loop, and by how many runs they are used."""

    http: "HttpClient"
    client: "UpstreamClient"
    users: int = 0


class Upstream:
    """A server of models: the name of a known server ("openrouter" or "openai"), or a base URL.

    `key` is the API key, or `env:NAME` to read the key from an environment variable; a known server has a default
    variable. The dialect is OpenRouter's if the base URL ends with `/api/v1`, and OpenAI's chat completions otherwise;
    `dialect` overrides this rule. `connect_timeout` and `idle_timeout` are in seconds; `idle_timeout` limits the
    silence of a model.

    `prices` are used where a server reports no costs: by model, USD per million tokens of prompt and of completion.

    All runs of an upstream share its connections. The connections are closed when the last run ends; `async with
    upstream` keeps them open until the end of the block.
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
        max_connections: int = 1000,
    ) -> None:
        from signalbox.wire.dialect import Upstream as UpstreamServer
        from signalbox.wire.dialects import DIALECTS, HOSTS, dialect_at

        host = HOSTS.get(at)
        if host is None and "://" not in at:
            raise RequestError(
                Code.INVALID_REQUEST, f"{at!r:.80} is neither a URL nor one of: {', '.join(sorted(HOSTS))}.", "at"
            )
        if dialect is not None and dialect not in DIALECTS:
            raise RequestError(
                Code.INVALID_REQUEST,
                f"There is no dialect {dialect!r:.80}; there are: {', '.join(DIALECTS)}.",
                "dialect",
            )
        base_url = host.base_url if host else at
        spoken = DIALECTS[dialect] if dialect else dialect_at(base_url)
        default_key = f"{_FROM_ENVIRONMENT}{host.key_variable}" if host else None
        self.dialect = spoken
        self._server = UpstreamServer(spoken, base_url, _key(key or default_key), referer, title)
        self.prices: dict[str, Prices] = {
            model: _per_token(model, of_model) for model, of_model in (prices or {}).items()
        }
        self._connect_timeout = connect_timeout
        self._idle_timeout = idle_timeout
        self._max_connections = max_connections
        # A connection belongs to the event loop that opened it.
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connections] = WeakKeyDictionary()

    def __repr__(self) -> str:
        """Show no key."""
        return f"Upstream({self._server.base_url!r}, dialect={self.dialect.name!r})"

    async def __aenter__(self) -> Self:
        """Keep connections open between runs."""
        self._acquire()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._release()

    @asynccontextmanager
    async def connected(self) -> "AsyncGenerator[UpstreamClient]":
        """Lend the client to one run."""
        client = self._acquire()
        try:
            yield client
        finally:
            await self._release()

    def _acquire(self) -> "UpstreamClient":
        from signalbox.services.http.client import HttpClient
        from signalbox.services.upstream import UpstreamClient

        loop = asyncio.get_running_loop()
        connections = self._open.get(loop)
        if connections is None:
            http = HttpClient(
                connect_timeout=self._connect_timeout,
                idle_timeout=self._idle_timeout,
                max_connections=self._max_connections,
            )
            connections = self._open[loop] = _Connections(http, UpstreamClient(http, self._server))
        connections.users += 1
        return connections.client

    async def _release(self) -> None:
        loop = asyncio.get_running_loop()
        connections = self._open[loop]
        connections.users -= 1
        if not connections.users:
            del self._open[loop]
            await connections.http.aclose()


def _per_token(model: str, per_million: tuple[float, float]) -> Prices:
    """Return the prices of a model; raises RequestError."""
    try:
        prompt, completion = per_million
        if prompt >= 0 and completion >= 0:
            return Prices(prompt / 1_000_000, completion / 1_000_000)
    except (TypeError, ValueError):
        pass  # the error below says what is expected
    words = f"prices: expected a pair of USD per million tokens for {model!r:.80}, got {per_million!r:.80}"
    raise RequestError(Code.INVALID_REQUEST, words, "prices")


def _key(key: str | None) -> str | None:
    """Read the key from the environment, if it says so; raises RequestError."""
    if key is None or not key.startswith(_FROM_ENVIRONMENT):
        return key
    name = key.removeprefix(_FROM_ENVIRONMENT)
    if not (value := os.environ.get(name, "").strip()):
        raise RequestError(Code.INVALID_REQUEST, f"The environment variable {name} is not set.", "key")
    return value
