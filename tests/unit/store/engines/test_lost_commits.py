"""Commits of PostgreSQL whose answer is lost: every write is stored once."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.messages import UserMessage
from signalbox.store import saves
from signalbox.store.conversations import add_nodes
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.runs import journal
from signalbox.store.runs.journal import JournalStore
from sqlalchemy import Connection, text

from tests.support.disk import a_run, opened, until, words
from tests.support.postgres import Server
from tests.support.postgres_faults import (
    a_save,
    recovered,
)
from tests.support.silent_servers import Proxy

pytestmark = pytest.mark.anyio


def question(node_id: str) -> list[ClientNode]:
    """Return a node with a user's message."""
    return [ClientNode(Node(node_id, None, "user", 2.0, "Hi", digest="d"), (UserMessage("Hi"),))]


WRITES: dict[str, tuple[Callable[..., Any], Callable[[str], tuple[Any, ...]], str]] = {
    "a save": (saves.add_save, a_save, "SELECT count(*) FROM saves"),
    "a question": (
        add_nodes,
        lambda name: (Conversation("c", "T"), question(name)),
        "SELECT count(*) FROM messages",
    ),
}


@pytest.mark.parametrize("what", WRITES)
@pytest.mark.parametrize("lost", ["its answer", "the commit"])
async def test_a_write_whose_commit_breaks_is_stored_once(  # noqa: PLR0917 - fixtures
    database: PostgresDatabase, proxy: Proxy, postgres: Server, proxied_url: str, what: str, lost: str
) -> None:
    """If the connection breaks between COMMIT and its answer, the outcome is looked up and the write stored once."""
    keep, made, count = WRITES[what]
    await database.write(keep, *made("first"))
    (proxy.lose_commits if lost == "its answer" else proxy.keep_commits)()
    writing = asyncio.create_task(database.write(keep, *made("second")))
    assert await asyncio.to_thread(proxy.commits.wait, 10)
    proxy.drop_silent()
    await writing
    assert postgres.sql(count, database=proxied_url) == [(2,)]


@pytest.mark.parametrize("lost", ["its answer", "the commit"])
async def test_a_flush_whose_commit_breaks_is_stored_once(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """If commits of a flush lose their answer, no event is lost and none is stored twice."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    store = JournalStore(database)
    await opened(store, "a")
    for number in range(1, 9):
        if number % 3 == 0:
            proxy.commits.clear()
            (proxy.lose_commits if lost == "its answer" else proxy.keep_commits)()
        store.append("a", words(number, number))
        begun = asyncio.ensure_future(store.open(a_run(f"new-{number}"), lambda seq, reserved: None))
        if number % 3 == 0:
            assert await asyncio.to_thread(proxy.commits.wait, 10)
            proxy.drop_silent()
        await begun
        await store.flush()
    assert store.is_healthy
    assert await store.read_events("a", 0) == words(1, 8)
    assert len(await store.recent(99)) == 9
    await store.aclose()


@pytest.mark.usefixtures("hasty")
async def test_a_flush_to_a_silent_server_is_stored_once(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flush whose COMMIT reaches the server after its timeout is repeated, and every event is stored once."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    monkeypatch.setattr(journal, "_RETRY_SECONDS", 0.05)
    store = JournalStore(database)
    await opened(store, "a")
    proxy.hold()
    for number in range(1, 100):
        store.append("a", words(number, number))
    await until(lambda: not store.is_healthy)
    store.append("a", words(100, 200))
    proxy.release()
    await until(lambda: store.is_healthy)
    await store.flush()
    await recovered(database)
    assert await store.read_events("a", 0) == words(1, 200)
    await store.aclose()


async def test_the_server_releases_locks_of_a_dead_worker(
    database: PostgresDatabase, proxy: Proxy, postgres_url: str
) -> None:
    """The server releases the locks of a worker that is cut off, long before TCP notices."""
    await database.write(saves.add_save, *a_save("s"))
    settings = await database.read(lambda c: dict(c.execute(text("SELECT name, setting FROM pg_settings")).all()))
    assert settings["idle_in_transaction_session_timeout"] == "13500"
    assert settings["tcp_keepalives_idle"] == "10"
    assert settings["statement_timeout"] == "4500"

    def lock(connection: Connection) -> None:
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 200"))
        connection.execute(text("SELECT 1 FROM saves FOR UPDATE"))
        if not held:
            held.append(True)
            proxy.hold()
        connection.execute(text("SELECT 1"))

    held: list[bool] = []
    cut_off = asyncio.create_task(database.write(lock))
    elsewhere = PostgresDatabase(postgres_url)
    await until(lambda: bool(held))
    assert await elsewhere.write(saves.delete_save, "s", "")
    await elsewhere.aclose()
    proxy.release()
    await asyncio.gather(cut_off, return_exceptions=True)
