"""Opening a PostgreSQL database: concurrent migrations, error messages, forms of URLs."""

import asyncio

import pytest
from signalbox.store.database import OpenError
from signalbox.store.engines.postgres import PostgresDatabase

from tests.support.postgres import Server
from tests.support.postgres_faults import (
    SECONDS,
    one,
)
from tests.support.silent_servers import silent_listener

pytestmark = pytest.mark.anyio


async def test_concurrent_starts_migrate_once(postgres: Server) -> None:
    """Workers that open an empty database concurrently migrate it once."""
    url = postgres.empty_database()
    workers = [PostgresDatabase(url) for _ in range(4)]
    await asyncio.gather(*(worker.open() for worker in workers))
    assert postgres.sql("SELECT count(*) FROM alembic_version", database=url) == [(1,)]
    for worker in workers:
        await worker.aclose()


async def test_each_cause_of_a_failed_start_has_its_reason(postgres: Server, postgres_url: str) -> None:
    """Each cause of a failed start has its reason; no reason contains the password."""
    postgres.sql("DROP ROLE IF EXISTS nologin")
    postgres.sql("CREATE ROLE nologin NOLOGIN")
    postgres.sql("DROP ROLE IF EXISTS reader")
    postgres.sql("CREATE ROLE reader LOGIN CONNECTION LIMIT 5")
    postgres.sql("DROP ROLE IF EXISTS crowd")
    postgres.sql("CREATE ROLE crowd LOGIN CONNECTION LIMIT 0")
    with silent_listener() as silent:
        closed = silent_listener_closed()
        causes = {
            postgres.url("nothing"): "no database with that name",
            postgres.url("postgres", user="nologin"): "this user may not connect",
            postgres.url(postgres.empty_database().rpartition("/")[2], user="reader"): "may not create tables",
            postgres.url("postgres", user="crowd"): "connections are in use",
            f"postgresql://u:{SECRET}@127.0.0.1:{closed}/x": "nothing listens on that port",
            f"postgresql://u:{SECRET}@127.0.0.1:{silent}/x": "does not answer",
            f"postgresql://u:{SECRET}@127.0.0.1:{silent}/x?sslmode=perhaps": "DATABASE_URL is not valid",
            f"postgresql://u:{SECRET}@/x?host=/nonexistent": "socket does not exist",
            f"{postgres_url}?sslmode=require": "",
        }
        for url, cause in causes.items():
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr("signalbox.store.engines.asyncpg_types.CONNECT_SECONDS", SECONDS)
                worker = PostgresDatabase(url)
                with pytest.raises(OpenError) as error:
                    await worker.open()
                assert (cause in error.value.reason, SECRET in error.value.reason) == (True, False), (url, error.value)
                await worker.aclose()


SECRET = "canary-password-8812"


def silent_listener_closed() -> int:
    """Return a port without a listener."""
    with silent_listener() as port:
        return port


async def test_all_forms_of_urls_can_be_opened(postgres: Server, postgres_url: str) -> None:
    """URLs with either scheme, a socket's folder, a dead first host and an encoded password can be opened."""
    name = postgres_url.rpartition("/")[2]
    closed, port = silent_listener_closed(), postgres.port
    for url in (
        f"postgres://postgres@127.0.0.1:{port}/{name}",
        f"postgresql://postgres@/{name}?host={postgres.folder}&port={port}",
        f"postgresql://postgres:a%2Fb%40c%3A@127.0.0.1:{port}/{name}?sslmode=disable",
        f"postgresql://postgres@127.0.0.1:{closed},127.0.0.1:{port}/{name}",
    ):
        worker = PostgresDatabase(url)
        await worker.open()
        assert await worker.read(one) == 1
        await worker.aclose()
