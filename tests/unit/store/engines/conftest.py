"""A PostgreSQL database behind a proxy that can hold, drop and lose messages."""

from collections.abc import AsyncGenerator, Iterator

import pytest
from signalbox.store.engines.postgres import PostgresDatabase

from tests.support.postgres import Server
from tests.support.postgres_faults import (
    shorten_timeouts,
)
from tests.support.silent_servers import Proxy


@pytest.fixture
def proxy(postgres: Server) -> Iterator[Proxy]:
    """Start a proxy in front of the server."""
    with Proxy(postgres.port) as made:
        yield made


@pytest.fixture
def proxied_url(postgres: Server, postgres_url: str, proxy: Proxy) -> str:
    """Return the URL of a fresh database behind the proxy."""
    return postgres.url(postgres_url.rpartition("/")[2], port=proxy.port)


@pytest.fixture
async def database(proxied_url: str) -> AsyncGenerator[PostgresDatabase, None]:
    """Open a database behind the proxy."""
    made = PostgresDatabase(proxied_url)
    await made.open()
    yield made
    await made.aclose()


@pytest.fixture
def hasty(database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten all timeouts."""
    shorten_timeouts(monkeypatch)
