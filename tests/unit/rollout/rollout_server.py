"""A server with a rollout: its database, flag, clock and the events that it sends."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.events import LoopName
from signalbox.core.messages import JsonObject
from signalbox.core.operation.webhooks import EventKind
from signalbox.flags.override import Override, OverrideFile
from signalbox.rollout.plan import Plan, Stage
from signalbox.rollout.service import Rollout
from signalbox.store.audit import list_audit
from signalbox.store.database import Work
from signalbox.store.engines.sqlite import SqliteDatabase

from tests.support.rollout_runs import BOTH, store_runs

STAGES = (Stage(50, 10, 100), Stage(100, 10, 100))


class Told:
    """Keeps the events whose transaction was committed."""

    def __init__(self, events: list[tuple[str, Any]]) -> None:
        self._queued, self._events = list[tuple[str, Any]](), events

    def enqueuing(self, kind: EventKind, payload: JsonObject) -> Work[None]:
        """Keep the event until `wake`."""
        return lambda _: self._queued.append((kind, payload))

    def wake(self) -> None:
        """Send the events."""
        self._events += self._queued
        self._queued.clear()


class Server:
    """A data folder with a database, the flag and a clock; `rollout` is the worker under test."""

    def __init__(self, folder: Path, database: SqliteDatabase) -> None:
        self.database, self.now, self.count = database, 1000.0, 0
        self.override = OverrideFile(folder / "flag.json")
        self.told: list[tuple[str, Any]] = []
        self.rollout = self.worker()

    def worker(self, **given: Any) -> Rollout:
        """Start another worker."""
        return Rollout(self.database, self.override, **{"outbox": Told(self.told), "clock": lambda: self.now, **given})

    async def runs(self, number: int, *, reason: str = "SPLIT", **of_v2: Any) -> None:
        """Store ended runs of both loops, alternately, one a second; without a percentage, only runs of V2."""
        ends = [self.now + one for one in range(1, number + 1)]
        loops: tuple[LoopName, ...] = BOTH if reason == "SPLIT" else ("v2",)
        self.count += 1
        await store_runs(self.database, ends, loops=loops, reason=reason, prefix=f"run-{self.count}", **of_v2)
        self.now += number

    async def actions(self) -> list[str]:
        """Return the actions in the audit log, oldest first."""
        return [one.action for one in reversed(await self.database.read(list_audit, 100))]

    async def plan(self) -> Plan:
        """Return the plan."""
        plan, _ = await self.rollout.current()
        assert plan is not None
        return plan


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """Open a database."""
    database = SqliteDatabase(tmp_path / "signalbox.db")
    await database.open()
    yield Server(tmp_path, database)
    await database.aclose()


async def finished(server: Server) -> None:
    """Roll V2 out to all."""
    await server.rollout.start("guard", STAGES, 10)
    for _ in range(2):
        await server.runs(610)
        await server.rollout.look()
    assert (server.override.current(), (await server.plan()).state) == (Override("on"), "finished")
