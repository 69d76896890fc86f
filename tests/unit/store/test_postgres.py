"""PostgreSQL that falls silent, breaks off, starts anew or refuses: nobody waits for long, nothing is kept twice."""

import asyncio
import signal
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.conversations import ClientNode, Conversation, Node
from signalbox.core.errors import StoreError
from signalbox.core.events import Content, Stamped
from signalbox.core.messages import UserMessage
from signalbox.store import saves
from signalbox.store.conversations import add_nodes
from signalbox.store.database import Database, OpenError
from signalbox.store.engines import postgres, timeouts
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.runs import journal
from signalbox.store.runs.journal import JournalStore
from sqlalchemy import Connection, text

from tests.support.disk import a_run, opened, until, words
from tests.support.postgres import Server
from tests.support.silent_servers import Proxy, silent_listener

pytestmark = pytest.mark.anyio
SECONDS = 0.4
# Turns a call that never ends into a failure.
HANG = 30.0


@pytest.fixture
def proxy(postgres: Server) -> Iterator[Proxy]:
    """Stand before the server."""
    with Proxy(postgres.port) as made:
        yield made


@pytest.fixture
def behind(postgres: Server, postgres_url: str, proxy: Proxy) -> str:
    """Return the address of a fresh database behind the proxy."""
    return postgres.url(postgres_url.rpartition("/")[2], port=proxy.port)


@pytest.fixture
async def database(behind: str) -> AsyncGenerator[PostgresDatabase, None]:
    """Open a database behind the proxy."""
    made = PostgresDatabase(behind)
    await made.open()
    yield made
    await made.aclose()


@pytest.fixture
def hasty(database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten all timeouts."""
    shorten_timeouts(monkeypatch)


def shorten_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten all timeouts from here on; what has to succeed first, on a busy machine too, comes before."""
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", SECONDS)
    monkeypatch.setattr(postgres, "LOCK_SECONDS", SECONDS)
    monkeypatch.setattr(postgres, "_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 0.1)


def one(connection: Connection) -> int:
    """Ask for next to nothing."""
    return connection.execute(text("SELECT 1")).scalar_one()


async def refused(asked: Any) -> float:
    """Have a call refused as an outage, and return how long that took."""
    begun = time.monotonic()
    with pytest.raises(StoreError) as error:
        async with asyncio.timeout(HANG):
            await asked
    assert error.value.code is Code.STORE_UNAVAILABLE
    return time.monotonic() - begun


def is_refused_at_once(asked: Coroutine[Any, Any, Any]) -> bool:
    """Return whether a call is refused as an outage before it waits for anything."""
    try:
        asked.send(None)
    except StoreError as error:
        return error.code is Code.STORE_UNAVAILABLE
    finally:
        asked.close()
    return False


async def well_again(database: Database) -> None:
    """Wait until the database is found to answer."""
    async with asyncio.timeout(10):
        while True:
            try:
                return void(await database.read(one))
            except StoreError:
                await asyncio.sleep(0.01)


def void(value: object) -> None:
    """Return nothing of a value."""


# --- silence --------------------------------------------------------------------------------------------------------


async def test_the_first_waits_his_time_and_the_next_not_at_all(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the server falls silent, pending calls wait for their timeout; the next call is refused at once."""
    await asyncio.gather(*(database.read(one) for _ in range(20)))
    shorten_timeouts(monkeypatch)
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 3600.0)
    proxy.hold()
    first = await asyncio.gather(*(refused(database.read(one)) for _ in range(20)), refused(database.write(one)))
    assert min(first) > SECONDS * 0.9
    assert is_refused_at_once(database.read(one))
    database._silence._until = 0.0  # the hour is over
    monkeypatch.setattr(postgres, "ANSWER_SECONDS", HANG)
    proxy.release()
    await well_again(database)
    assert await asyncio.gather(*(database.read(one) for _ in range(20))) == [1] * 20


@pytest.mark.usefixtures("hasty")
async def test_one_at_a_time_finds_out_whether_the_silence_is_over(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the server stays silent, one caller tries it and waits; the others are refused at once."""
    monkeypatch.setattr(timeouts, "SILENT_SECONDS", 0.0)
    proxy.hold()
    await refused(database.read(one))
    trying = asyncio.create_task(refused(database.read(one)))
    await until(lambda: database._silence._is_tried)
    assert all(is_refused_at_once(database.read(one)) for _ in range(20))
    assert await trying > SECONDS * 0.9


@pytest.mark.usefixtures("hasty")
async def test_a_dead_connection_takes_its_idle_sisters_along(database: PostgresDatabase, proxy: Proxy) -> None:
    """They were cut off together without a word: after the first the next caller gets a new connection."""
    await asyncio.gather(*(database.read(lambda c: c.execute(text("SELECT pg_sleep(0.05)"))) for _ in range(8)))
    proxy.hold()
    await refused(database.read(one))
    async with asyncio.timeout(30):  # on a busy machine the caller may be told before all of them are let go
        while [driver for driver in database._drivers if not driver.is_closed()]:  # noqa: ASYNC110 - they tell nobody
            await asyncio.sleep(0.01)
    proxy.release()
    await well_again(database)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("when", ["connecting", "setting up"])
async def test_a_new_connection_has_its_time_as_well(behind: str, proxy: Proxy, when: str) -> None:
    """Neither a handshake nor what follows it keeps a caller."""
    fresh = PostgresDatabase(behind)
    if when == "setting up":  # asyncpg is done with its handshake, and then nothing comes any more
        connect = postgres.connect

        async def connected(url: str) -> Any:
            driver = await connect(url)
            proxy.hold()
            return driver

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(postgres, "connect", connected)
            await refused(fresh.read(one))
    else:
        proxy.hold()
        await refused(fresh.read(one))
    async with asyncio.timeout(HANG):
        await fresh.aclose()
    proxy.release()


@pytest.mark.usefixtures("hasty")
async def test_closing_waits_for_no_silent_server(behind: str, proxy: Proxy) -> None:
    """Connections in use and idle ones are dropped; no task is left."""
    before = asyncio.all_tasks()
    fresh = PostgresDatabase(behind)
    await asyncio.gather(*(fresh.read(one) for _ in range(4)))
    proxy.hold()
    waiting = asyncio.create_task(refused(fresh.read(one)))
    await until(lambda: any(turn.driver for turn in fresh._turns))
    async with asyncio.timeout(HANG):
        await fresh.aclose()
    await waiting
    await until(lambda: asyncio.all_tasks() == before)
    proxy.release()


async def test_a_long_word_is_given_up_by_the_server_itself(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is known to be there, and nobody else is refused."""

    def long(connection: Connection) -> None:
        connection.execute(text("SET LOCAL statement_timeout = 50"))
        connection.execute(text("SELECT pg_sleep(30)"))

    await refused(database.read(long))
    assert await database.read(one) == 1


async def test_whoever_leaves_cuts_nothing(database: PostgresDatabase, postgres: Server, behind: str) -> None:
    """What he asked for is done all the same, and waited for when the database is closed."""
    entered = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: Connection) -> None:
        loop.call_soon(entered.set)
        connection.execute(text("SELECT pg_sleep(0.1)"))
        saves.add_save(connection, *a_save("s"))

    leaving = asyncio.create_task(database.write(slow))
    await entered.wait()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await database.aclose()
    assert postgres.sql("SELECT id FROM saves", database=behind) == [("s",)]


# --- what became of a commit ----------------------------------------------------------------------------------------


def a_save(save_id: str) -> tuple[saves.ListedSave, saves.Snapshot, list[Stamped]]:
    """Make a save."""
    line = saves.ListedSave(save_id, "T", 1.0, "r", "m", "v2", "complete", 1)
    return line, saves.Snapshot({}, {}, {}), [Stamped(1, 1, Content("x"))]


def told(node_id: str) -> list[ClientNode]:
    """Make what a person said."""
    return [ClientNode(Node(node_id, None, "user", 2.0, "Hi", digest="d"), (UserMessage("Hi"),))]


KEEP: dict[str, tuple[Callable[..., Any], Callable[[str], tuple[Any, ...]], str]] = {
    "a save": (saves.add_save, a_save, "SELECT count(*) FROM saves"),
    "a question": (add_nodes, lambda name: (Conversation("c", "T"), told(name)), "SELECT count(*) FROM messages"),
}


@pytest.mark.parametrize("what", KEEP)
@pytest.mark.parametrize("lost", ["its answer", "the commit"])
async def test_a_broken_commit_is_kept_once(  # noqa: PLR0917 - fixtures
    database: PostgresDatabase, proxy: Proxy, postgres: Server, behind: str, what: str, lost: str
) -> None:
    """The connection breaks between COMMIT and its answer: the server knows what became of it, and is asked."""
    keep, made, count = KEEP[what]
    await database.write(keep, *made("first"))
    (proxy.lose_commits if lost == "its answer" else proxy.keep_commits)()
    writing = asyncio.create_task(database.write(keep, *made("second")))
    assert await asyncio.to_thread(proxy.commits.wait, 10)
    proxy.drop_silent()
    await writing
    assert postgres.sql(count, database=behind) == [(2,)]


@pytest.mark.parametrize("lost", ["its answer", "the commit"])
async def test_a_flush_that_breaks_is_kept_once(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    """Runs that begin, go on and remember: no event is lost and none is there twice."""
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
async def test_a_flush_of_a_silent_hour_is_kept_once(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first COMMIT comes to the server when its writer has long given up: what is written again is the same."""
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
    await well_again(database)
    assert await store.read_events("a", 0) == words(1, 200)
    await store.aclose()


async def test_a_dead_worker_holds_no_row_for_long(database: PostgresDatabase, proxy: Proxy, postgres_url: str) -> None:
    """It locks a row and is cut off without a word: the server lets go of it by itself, long before TCP would."""
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


# --- a server that was started anew -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGINT])
async def test_a_restart_is_noticed_by_nobody(
    database: PostgresDatabase, postgres: Server, how: signal.Signals
) -> None:
    """All connections of the pool are stale: reads and writes get new ones."""
    await asyncio.gather(*(database.read(one) for _ in range(8)))
    postgres.stop(how)
    postgres.start()
    await asyncio.gather(*(database.write(saves.add_save, *a_save(str(number))) for number in range(8)))
    assert [await database.read(saves.find_save, str(number)) is None for number in range(8)] == [False] * 8


async def test_a_read_under_way_goes_on_after_its_connection_was_ended(
    database: PostgresDatabase, postgres: Server
) -> None:
    """An administrator ends it in the middle of a word: it is asked again, once."""
    tries: list[int] = []
    loop = asyncio.get_running_loop()
    begun = asyncio.Event()

    def slow(connection: Connection) -> int:
        tries.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
        loop.call_soon(begun.set)
        connection.execute(text(f"SELECT pg_sleep({0 if len(tries) > 1 else 30})"))
        return len(tries)

    reading = asyncio.create_task(database.read(slow))
    await begun.wait()
    postgres.sql("SELECT pg_terminate_backend($1)", tries[0])
    assert await reading == 2


# --- refusals ---------------------------------------------------------------------------------------------------------

LASTING = {
    "no such table": "SELECT * FROM nothing",
    "no number": "SELECT CAST('x' AS integer)",
    "no such row": "INSERT INTO journal VALUES ('nobody', 1, 1, '')",
    "too large": "SELECT 2147483647 + 1",
    "may not": "SET SESSION AUTHORIZATION guest; SELECT * FROM runs",
}
PASSING = {
    "it only reads": "SET TRANSACTION READ ONLY; CREATE TABLE x ()",
    "it is full": "SET LOCAL temp_file_limit = 0; SET LOCAL work_mem = 64; "
    "SELECT count(*) FROM (SELECT g FROM generate_series(1, 200000) g ORDER BY -g) x",
    "another has it": "SET LOCAL lock_timeout = 20; LOCK TABLE runs",
    "it ends": "SELECT pg_terminate_backend(pg_backend_pid())",
    "it was told to stop": "SELECT pg_cancel_backend(pg_backend_pid()); SELECT pg_sleep(1)",
}


def say(connection: Connection, words: str) -> None:
    """Say one thing after another."""
    for word in words.split("; "):
        connection.execute(text(word))


@pytest.mark.parametrize("why", LASTING)
async def test_what_is_refused_for_ever_is_no_outage(database: PostgresDatabase, postgres: Server, why: str) -> None:
    """It would be refused at every try; the database itself stays well."""
    if why == "may not":
        postgres.sql("DROP ROLE IF EXISTS guest")
        postgres.sql("CREATE ROLE guest")
    with pytest.raises(StoreError) as error:
        await database.write(say, LASTING[why])
    assert error.value.code is Code.INTERNAL
    assert await database.read(one) == 1


@pytest.mark.parametrize("value", ["\0", 2**40, "x"])
async def test_a_value_that_does_not_fit_is_no_outage(database: PostgresDatabase, value: object) -> None:
    """The server refuses it, or asyncpg before it: a run that brings one must not keep the others from the disk."""
    where = "title" if value == "\0" else "seq"
    with pytest.raises(StoreError) as error:
        await database.write(lambda c: c.execute(text(f"UPDATE saves SET {where} = :value"), {"value": value}))
    assert error.value.code is Code.INTERNAL


@pytest.mark.parametrize("why", PASSING)
async def test_what_passes_is_an_outage(database: PostgresDatabase, why: str) -> None:
    """It may be asked again later, and nothing is let go for it."""
    if why == "another has it":
        release = asyncio.Event()
        holding = asyncio.create_task(_hold(database, release))
        await asyncio.sleep(0)
        await refused(_until_locked(database, PASSING[why]))
        release.set()
        await holding
    else:
        await refused(database.write(say, PASSING[why]))
    assert await database.read(one) == 1


async def _until_locked(database: PostgresDatabase, words: str) -> None:
    while True:
        await database.write(say, words)


async def _hold(database: PostgresDatabase, release: asyncio.Event) -> None:
    from sqlalchemy.util import await_only

    def hold(connection: Connection) -> None:
        connection.execute(text("LOCK TABLE runs"))
        await_only(release.wait())

    await database.write(hold)


async def test_of_two_that_block_each_other_both_come_through(database: PostgresDatabase) -> None:
    """The server ends one of them, who begins again: nobody above hears of it."""
    await database.write(saves.add_save, *a_save("a"))
    await database.write(saves.add_save, *a_save("b"))
    met = asyncio.Barrier(2)
    tries: list[str] = []

    def crossing(connection: Connection, first: str, second: str) -> None:
        from sqlalchemy.util import await_only

        # Who looks is who is ended: only one of them looks soon, or both might be.
        connection.execute(text(f"SET LOCAL deadlock_timeout = {20 if first == 'a' else 4000}"))
        change = text("UPDATE saves SET seq = seq + 1 WHERE id = :id")
        connection.execute(change, {"id": first})
        tries.append(first)
        if len(tries) <= 2:
            await_only(met.wait())
        connection.execute(change, {"id": second})

    await asyncio.gather(database.write(crossing, "a", "b"), database.write(crossing, "b", "a"))
    assert len(tries) == 3
    lines = [await database.read(saves.find_save, name) for name in "ab"]
    assert [line and line.seq for line in lines] == [3, 3]


# --- names held against other workers ---------------------------------------------------------------------------------


async def test_a_name_is_held_by_one_at_a_time(database: PostgresDatabase, behind: str) -> None:
    """Also against another worker; another name is free, and what is held is free when its holder breaks off."""
    other = PostgresDatabase(behind)
    order: list[str] = []

    async def second() -> None:
        async with other.locked("x"):
            order.append("second")

    async with database.locked("x"):
        waiting = asyncio.create_task(second())
        async with other.locked("y"):
            order.append("y")
        await asyncio.gather(*(database.read(one) for _ in range(20)))
        order.append("first")
    await waiting
    assert order == ["y", "first", "second"]
    await other.aclose()


async def test_whoever_waits_for_a_name_may_leave(database: PostgresDatabase) -> None:
    """A cancelled waiter ends while the server still waits for its lock; the lock is free afterwards."""
    asked = text(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = "
        "(SELECT oid FROM pg_database WHERE datname = current_database())"
    )

    async def waits() -> bool:
        return await database.read(lambda connection: connection.execute(asked).scalar_one()) == 1

    async with database.locked("x"):
        waiting = asyncio.create_task(database.locked("x").__aenter__())
        async with asyncio.timeout(HANG):
            while not await waits():
                pass
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert await waits()
    async with database.locked("x"):
        pass


async def test_a_name_is_waited_for_in_time(
    database: PostgresDatabase, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that waits for a name is refused if its holder keeps it, or if the server is silent."""
    async with database.locked("x"):
        shorten_timeouts(monkeypatch)
        await refused(database.locked("x").__aenter__())
    await well_again(database)
    proxy.hold()
    await refused(database.locked("z").__aenter__())
    proxy.release()


# --- the start --------------------------------------------------------------------------------------------------------


async def test_workers_that_start_together_migrate_once(postgres: Server) -> None:
    """One makes the tables, the others find them."""
    url = postgres.empty_database()
    workers = [PostgresDatabase(url) for _ in range(4)]
    await asyncio.gather(*(worker.open() for worker in workers))
    assert postgres.sql("SELECT count(*) FROM alembic_version", database=url) == [(1,)]
    for worker in workers:
        await worker.aclose()


async def test_why_it_cannot_be_opened_is_told(postgres: Server, postgres_url: str) -> None:
    """Each cause has its clause; none of them quotes the address."""
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
                with pytest.raises(OpenError) as told:
                    await worker.open()
                assert (cause in told.value.reason, SECRET in told.value.reason) == (True, False), (url, told.value)
                await worker.aclose()


SECRET = "canary-password-8812"


def silent_listener_closed() -> int:
    """Return a port that nobody listens at any more."""
    with silent_listener() as port:
        return port


async def test_addresses_of_all_kinds_are_understood(postgres: Server, postgres_url: str) -> None:
    """Both names of the scheme, a socket's folder, several hosts of which the first is dead, a quoted password."""
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
