"""Leases on a real PostgreSQL: one worker writes to a run, and one worker ends it."""

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
LEASE, EXPIRED = 60.0, 0.0


@dataclass
class Worker:
    """A worker's store and name, and the runs whose lease it has lost."""

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
    """Open a fresh database; stores flush without delay."""
    monkeypatch.setattr(journal, "FLUSH_SECONDS", 0.0)
    database = PostgresDatabase(postgres_url)
    await database.open()
    made = Workers(database)
    with capture_logs():  # lost leases are logged
        yield made
        for worker in made.made:
            await worker.store.aclose()
        await database.aclose()


def over(record: RunRecord, seq: int) -> RunRecord:
    """Return the record of a run that is complete."""
    return replace(record, status="complete", ended=2.0, seq=seq)


async def test_a_run_has_a_lease_from_its_start_to_its_end(workers: Workers) -> None:
    """A run's lease belongs to the worker that opened it, and is released at its end."""
    one = workers.new("one")
    await opened(one.store, "a", "b")
    assert await workers.leases() == {"a": "one", "b": "one"}
    one.store.append("a", words(1, 3))
    one.store.save_figures("a", lambda: over(a_run("a"), 3))
    await one.store.flush()
    assert await workers.leases() == {"b": "one"}
    one.store.save_figures("a", lambda: replace(over(a_run("a"), 3), settled_at=9.0))  # the cost is settled later
    await one.store.flush()
    found = await one.store.find("a")
    assert found is not None
    assert (found.settled_at, one.lost) == (9.0, [])


async def test_only_runs_with_an_expired_lease_are_taken_over(workers: Workers) -> None:
    """Two workers take over each run with an expired lease once; a run with a valid lease is not taken over."""
    one, dead = workers.new("one"), workers.new("dead", seconds=EXPIRED)
    successor, other = workers.new("successor"), workers.new("other")
    await opened(one.store, "a")
    await opened(dead.store, "b", "c")
    taken = await asyncio.gather(successor.store.claim_unfinished(), other.store.claim_unfinished())
    assert sorted(record.id for records in taken for record in records) == ["b", "c"]
    leases = await workers.leases()
    assert leases["a"] == "one"
    assert {leases["b"], leases["c"]} <= {"successor", "other"}


async def test_a_renewed_lease_holds(workers: Workers) -> None:
    """A worker that renews its leases keeps its runs, even if the leases had expired."""
    one, successor = workers.new("one", seconds=EXPIRED), workers.new("successor")
    await opened(one.store, "a")
    one.sharing.seconds = LEASE
    await one.store.renew()
    assert await successor.store.claim_unfinished() == []


async def test_a_worker_does_not_write_to_a_run_that_was_taken_over(workers: Workers) -> None:
    """Events of a run that was taken over are not written; the worker's other runs continue."""
    one, successor = workers.new("one", seconds=EXPIRED), workers.new("successor")
    await opened(one.store, "a")
    one.store.append("a", words(1, 2))
    await one.store.flush()
    await recover(successor.store)
    one.sharing.seconds = LEASE
    await opened(one.store, "b")
    one.store.append("a", words(3, 9))
    one.store.append("b", words(1, 1))
    one.store.save_figures("a", lambda: over(a_run("a"), 9))
    await one.store.flush()
    assert one.lost == ["a"]
    stored = await successor.store.read_events("a", 0)
    assert [stamped.seq for stamped in stored] == [1, 2, BLOCK + 1, BLOCK + 2]
    assert [isinstance(stamped.event, Done) for stamped in stored] == [False, False, False, True]
    found = await successor.store.find("a")
    assert found is not None
    assert (found.status, found.code) == ("interrupted", "SERVER_CRASH")
    assert [stamped.event for stamped in await successor.store.read_events("b", 0)] == [Content("1")]


async def test_a_heartbeat_detects_the_takeover_of_a_silent_run(workers: Workers) -> None:
    """A worker that writes nothing for a run learns from the renewal that another worker has taken it over."""
    one, successor = workers.new("one", seconds=EXPIRED), workers.new("successor")
    await opened(one.store, "a")
    await recover(successor.store)
    await one.store.renew()
    assert one.lost == ["a"]


async def test_a_takeover_waits_for_a_flush_under_way(workers: Workers) -> None:
    """A run is not taken over while its rows are being written, so the successor reads its last event."""
    one, successor = workers.new("one", seconds=EXPIRED), workers.new("successor")
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
    assert await successor.store.claim_unfinished() == []
    release.set()
    await flushing
    assert [(record.id, record.seq) for record in await successor.store.claim_unfinished()] == [("a", 2)]


def _taken_of(run_id: str) -> flush.PendingWrite:
    return flush.PendingWrite(run_id, 2, BLOCK, None, None, words(1, 2), [], is_raised=False, is_leased=True)


async def test_a_taken_over_run_is_ended_later_if_the_database_fails(workers: Workers) -> None:
    """If the database fails between takeover and ending, the run still belongs to the worker that took it over."""
    dead, successor, other = workers.new("dead", seconds=EXPIRED), workers.new("successor"), workers.new("other")
    await opened(dead.store, "a")
    await workers.database.write(take_over, successor.sharing)
    assert await other.store.claim_unfinished() == []
    ended = await recover(successor.store)
    assert [record.id for record in ended] == ["a"]
    assert await recover(successor.store) == []


async def test_a_flush_whose_answer_was_lost_is_written_once(workers: Workers) -> None:
    """The flush was committed but its answer was lost; the same rows are written again with further ones."""
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
    """A worker whose own leases have expired does not take over its runs; they continue and end once."""
    one = workers.new("one", seconds=EXPIRED)
    await opened(one.store, "a")
    assert await recover(one.store) == []
    one.store.append("a", words(1, 3))
    one.store.save_figures("a", lambda: over(a_run("a"), 3))
    await one.store.flush()
    assert [stamped.seq for stamped in await one.store.read_events("a", 0)] == [1, 2, 3]
    assert one.lost == []


async def test_a_former_worker_cannot_release_the_lease_of_its_successor(workers: Workers) -> None:
    """Between takeover and ending, the former worker's events and figures are discarded; the successor ends the run."""
    one, successor = workers.new("one", seconds=EXPIRED), workers.new("successor")
    await opened(one.store, "a")
    [taken] = await successor.store.claim_unfinished()
    one.store.append("a", words(1, 2))
    await one.store.flush()
    assert one.lost == ["a"]
    one.store.close("a")
    one.store.save_figures("a", lambda: over(a_run("a"), 2))
    await one.store.flush()
    assert await workers.leases() == {"a": "successor"}
    found = await successor.store.find("a")
    assert found is not None
    assert found.status is None
    assert taken.id == "a"
    await recover(successor.store)
    assert [isinstance(stamped.event, Done) for stamped in await successor.store.read_events("a", 0)] == [False, True]
    assert await workers.leases() == {}


async def test_a_takeover_claims_a_limited_number_of_runs(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """One takeover claims a limited number of runs; other workers may claim the rest."""
    monkeypatch.setattr(leases, "_RUNS_PER_TAKEOVER", 2)
    dead, successor, other = workers.new("dead", seconds=EXPIRED), workers.new("successor"), workers.new("other")
    await opened(dead.store, "a", "b", "c")
    taken = await asyncio.gather(successor.store.claim_unfinished(), other.store.claim_unfinished())
    assert sorted(len(records) for records in taken) in ([1, 2], [0, 2])
    again = await successor.store.claim_unfinished()
    assert len({record.id for records in (*taken, again) for record in records}) == 3
