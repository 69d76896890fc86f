"""Leases on a real PostgreSQL: who may write for a run, who ends it, and that nobody does so twice."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace
from signalbox.core.events import Content, Done
from signalbox.core.records import RunRecord
from signalbox.runs.recovery import recover
from signalbox.store.engines.postgres import PostgresDatabase
from signalbox.store.runs import flush, journal, leases
from signalbox.store.runs.flush import BLOCK
from signalbox.store.runs.journal import JournalStore
from signalbox.store.runs.leases import Sharing, renew, take_over
from signalbox.store.tables import LEASES
from sqlalchemy import select
from structlog.testing import capture_logs

from tests.support.disk import a_run, opened, until, words

pytestmark = pytest.mark.anyio
LEASE, NONE_AT_ALL = 60.0, 0.0


@dataclass
class Worker:
    """A worker's store, its name, and the runs that it was told to have lost."""

    store: JournalStore
    sharing: Sharing
    lost: list[str] = field(default_factory=list[str])


@dataclass
class Workers:
    """Workers of one database."""

    database: PostgresDatabase
    made: list[Worker] = field(default_factory=list[Worker])

    def new(self, name: str, *, seconds: float = LEASE) -> Worker:
        sharing = Sharing(name, seconds)
        worker = Worker(JournalStore(self.database, sharing), sharing)
        sharing.on_lost = worker.lost.append
        self.made.append(worker)
        return worker

    async def leases(self) -> dict[str, str]:
        asked = select(LEASES.c.run_id, LEASES.c.worker)
        return {row.run_id: row.worker for row in await self.database.read(lambda c: c.execute(asked).all())}


@pytest.fixture
async def workers(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Workers, None]:
    """Open a fresh database, and write to it at once."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    database = PostgresDatabase(postgres_url)
    await database.open()
    made = Workers(database)
    with capture_logs():  # what is lost is logged, and shown by nobody here
        yield made
        for worker in made.made:
            await worker.store.aclose()
        await database.aclose()


def over(record: RunRecord, seq: int) -> RunRecord:
    """Say how a run ended."""
    return replace(record, status="complete", ended=2.0, seq=seq)


async def test_a_run_has_a_lease_from_its_start_to_its_end(workers: Workers) -> None:
    """It is the worker's that opened it, and nobody's once it is over."""
    one = workers.new("one")
    await opened(one.store, "a", "b")
    assert await workers.leases() == {"a": "one", "b": "one"}
    one.store.append("a", words(1, 3))
    one.store.save_figures("a", lambda: over(a_run("a"), 3))
    await one.store.flush()
    assert await workers.leases() == {"b": "one"}
    one.store.save_figures("a", lambda: replace(over(a_run("a"), 3), settled_at=9.0))  # a bill that comes later
    await one.store.flush()
    found = await one.store.find("a")
    assert found is not None
    assert (found.settled_at, one.lost) == (9.0, [])


async def test_only_runs_whose_lease_has_run_out_are_taken_over(workers: Workers) -> None:
    """Those of the living stay; what is taken is taken once."""
    one, dead, heir, other = (
        workers.new("one"), workers.new("dead", seconds=NONE_AT_ALL), workers.new("heir"), workers.new("other")
    )  # fmt: skip
    await opened(one.store, "a")
    await opened(dead.store, "b", "c")
    taken = await asyncio.gather(heir.store.claim_unfinished(), other.store.claim_unfinished())
    assert sorted(record.id for records in taken for record in records) == ["b", "c"]
    leases = await workers.leases()
    assert leases["a"] == "one"
    assert {leases["b"], leases["c"]} <= {"heir", "other"}


async def test_a_renewed_lease_holds(workers: Workers) -> None:
    """A worker that says that it lives keeps its runs, also after its leases had run out."""
    one, heir = workers.new("one", seconds=NONE_AT_ALL), workers.new("heir")
    await opened(one.store, "a")
    one.sharing.seconds = LEASE
    await one.store.renew()
    assert await heir.store.claim_unfinished() == []


async def test_a_worker_that_was_taken_for_dead_writes_nothing_more(workers: Workers) -> None:
    """What it says after its run was ended is kept nowhere, its other runs go on, and the ending stays the only one."""
    one, heir = workers.new("one", seconds=NONE_AT_ALL), workers.new("heir")
    await opened(one.store, "a")
    one.store.append("a", words(1, 2))
    await one.store.flush()
    await recover(heir.store)
    one.sharing.seconds = LEASE
    await opened(one.store, "b")
    one.store.append("a", words(3, 9))
    one.store.append("b", words(1, 1))
    one.store.save_figures("a", lambda: over(a_run("a"), 9))
    await one.store.flush()
    assert one.lost == ["a"]
    kept = await heir.store.read_events("a", 0)
    assert [stamped.seq for stamped in kept] == [1, 2, BLOCK + 1, BLOCK + 2]
    assert [isinstance(stamped.event, Done) for stamped in kept] == [False, False, False, True]
    found = await heir.store.find("a")
    assert found is not None
    assert (found.status, found.code) == ("interrupted", "SERVER_CRASH")
    assert [stamped.event for stamped in await heir.store.read_events("b", 0)] == [Content("1")]


async def test_a_quiet_run_that_was_taken_over_is_noticed_by_the_beat(workers: Workers) -> None:
    """Nothing is written for it, so the renewal tells."""
    one, heir = workers.new("one", seconds=NONE_AT_ALL), workers.new("heir")
    await opened(one.store, "a")
    await recover(heir.store)
    await one.store.renew()
    assert one.lost == ["a"]


async def test_a_takeover_waits_for_a_flush_under_way(workers: Workers) -> None:
    """While rows of a run are being written nobody takes it: what is then read as its end is its end."""
    one, heir = workers.new("one", seconds=NONE_AT_ALL), workers.new("heir")
    await opened(one.store, "a")
    holding, release = asyncio.Event(), asyncio.Event()

    async def flush_slowly() -> None:
        async def work(connection: object) -> None:
            holding.set()
            await release.wait()

        def write(connection: object) -> None:
            flush.write_pending(connection, [_taken_of("a")], (), one.sharing)  # type: ignore[arg-type]

        async def both(connection: object) -> None:
            await connection.run_sync(write)  # type: ignore[attr-defined]
            await work(connection)

        await workers.database._with_timeout(workers.database._engine, both, 5.0)  # type: ignore[arg-type]

    flushing = asyncio.create_task(flush_slowly())
    await holding.wait()
    assert await heir.store.claim_unfinished() == []
    release.set()
    await flushing
    assert [(record.id, record.seq) for record in await heir.store.claim_unfinished()] == [("a", 2)]


def _taken_of(run_id: str) -> flush.PendingWrite:
    return flush.PendingWrite(run_id, 2, BLOCK, None, None, words(1, 2), [], is_raised=False, is_leased=True)


async def test_who_is_kept_from_ending_what_he_took_does_so_later(workers: Workers) -> None:
    """The database failed between the two: it is still his, and nobody else's to end."""
    dead, heir, other = workers.new("dead", seconds=NONE_AT_ALL), workers.new("heir"), workers.new("other")
    await opened(dead.store, "a")
    await workers.database.write(take_over, heir.sharing)
    assert await other.store.claim_unfinished() == []
    ended = await recover(heir.store)
    assert [record.id for record in ended] == ["a"]
    assert await recover(heir.store) == []


async def test_a_flush_whose_answer_was_lost_is_written_once(workers: Workers) -> None:
    """It came through and nobody knew; the same rows come again, with more behind them."""
    one = workers.new("one")
    await opened(one.store, "a")
    await workers.database.write(flush.write_pending, [_taken_of("a")], (), one.sharing)
    one.store.append("a", words(1, 5))
    one.store.save_figures("a", lambda: over(a_run("a"), 5))
    await one.store.flush()
    assert [stamped.seq for stamped in await one.store.read_events("a", 0)] == [1, 2, 3, 4, 5]
    assert one.lost == []
    await until(lambda: "a" not in one.store._leased())
    assert await workers.database.write(renew, one.sharing) == frozenset()


async def test_a_worker_takes_over_none_of_its_own_runs(workers: Workers) -> None:
    """Its leases have run out, since it had to wait: what it has goes on, and has one ending."""
    one = workers.new("one", seconds=NONE_AT_ALL)
    await opened(one.store, "a")
    assert await recover(one.store) == []
    one.store.append("a", words(1, 3))
    one.store.save_figures("a", lambda: over(a_run("a"), 3))
    await one.store.flush()
    assert [stamped.seq for stamped in await one.store.read_events("a", 0)] == [1, 2, 3]
    assert one.lost == []


async def test_the_lease_of_the_heir_outlives_what_the_loser_still_says(workers: Workers) -> None:
    """Between the takeover and the ending: the loser's figures are kept nowhere, and the heir tells the ending."""
    one, heir = workers.new("one", seconds=NONE_AT_ALL), workers.new("heir")
    await opened(one.store, "a")
    [taken] = await heir.store.claim_unfinished()
    one.store.append("a", words(1, 2))
    await one.store.flush()
    assert one.lost == ["a"]
    one.store.close("a")
    one.store.save_figures("a", lambda: over(a_run("a"), 2))
    await one.store.flush()
    assert await workers.leases() == {"a": "heir"}
    found = await heir.store.find("a")
    assert found is not None
    assert found.status is None
    assert taken.id == "a"
    await recover(heir.store)
    assert [isinstance(stamped.event, Done) for stamped in await heir.store.read_events("a", 0)] == [False, True]
    assert await workers.leases() == {}


async def test_many_are_taken_over_some_at_a_time(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other workers may take the rest."""
    monkeypatch.setattr(leases, "_RUNS_PER_TAKEOVER", 2)
    dead, heir, other = workers.new("dead", seconds=NONE_AT_ALL), workers.new("heir"), workers.new("other")
    await opened(dead.store, "a", "b", "c")
    taken = await asyncio.gather(heir.store.claim_unfinished(), other.store.claim_unfinished())
    assert sorted(len(records) for records in taken) in ([1, 2], [0, 2])
    again = await heir.store.claim_unfinished()
    assert len({record.id for records in (*taken, again) for record in records}) == 3
