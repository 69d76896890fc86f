"""Changes of the plan with their audit entries, events and log lines, also when a worker ends in between."""

import asyncio
from itertools import count
from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError
from signalbox.core.messages import JsonObject
from signalbox.core.operation.audit import person
from signalbox.core.operation.webhooks import EventKind
from signalbox.flags.override import Override
from signalbox.rollout.service import Rollout
from signalbox.services.webhook_post import Posted
from signalbox.store.audit import list_audit
from signalbox.store.database import Work
from structlog.testing import capture_logs

from tests.unit.rollout.rollout_server import STAGES, Server, Told, finished
from tests.unit.webhooks.scripted_receivers import Hooks, ScriptedPost, register

pytestmark = pytest.mark.anyio


async def crashes(override: Override | None) -> None:
    """Fail to set the flag, or end at this place."""
    raise OSError(override)


async def decides(server: Server, **given: Any) -> Rollout:
    """Start a worker that decides to take V2 back, and ends before it can set the flag."""
    await server.rollout.start("guard", STAGES, 10)
    await server.runs(60, status="error", code="INTERNAL")
    worker = server.worker(**given)
    server.override.store = crashes
    with pytest.raises(OSError, match="off"):
        await worker.look()
    del server.override.store
    assert ((await server.plan()).state, server.override.current()) == ("rolled_back", Override("percent", 50))
    return worker


async def test_a_crash_after_the_decision_loses_no_webhook(server: Server) -> None:
    """The event is in the queue of the database as soon as the audit log says that V2 is taken back."""
    await register(server.database, "wh_1", "rollout.rolled_back")
    hooks = Hooks(server.database, ScriptedPost(Posted(200)))
    await decides(server, outbox=hooks.webhooks)
    entry = (await server.database.read(list_audit, 1))[0]
    assert entry.action == "rollout.rolled_back"
    assert not {"at", "assessment"} & entry.details.keys(), "the entry has its time and the reason once"
    delivery = await hooks.only()
    assert (delivery.kind, delivery.state) == ("rollout.rolled_back", "pending")
    assert b'"percent":50,"reason":"V2 is worse than legacy: ' in delivery.body


async def test_after_a_crash_any_worker_sets_the_flag(server: Server) -> None:
    """Another worker sets it and logs the rollback at once, though the lease of the first has not expired."""
    await decides(server)
    with capture_logs() as logs:
        for _ in range(2):
            await server.worker().look()
    assert server.override.current() == Override("off")
    assert [(one["event"], one["log_level"]) for one in logs] == [("rollout.rolled_back", "warning")]
    assert logs[0]["reason"].startswith("V2 is worse than legacy: error endings")


async def test_a_change_without_its_event_is_none(server: Server) -> None:
    """If the event cannot be queued, the plan and the flag stay, and the next look tries again."""

    class Broken(Told):
        def enqueuing(self, kind: EventKind, payload: JsonObject) -> Work[None]:
            raise StoreError(Code.INTERNAL)

    await server.rollout.start("guard", STAGES, 10)
    await server.runs(60, status="error", code="INTERNAL")
    with pytest.raises(StoreError):
        await server.worker(outbox=Broken([])).look()
    assert ((await server.plan()).is_running, await server.actions()) == (True, ["rollout.started"])


async def test_the_audit_log_says_who_started_what(server: Server) -> None:
    """A start names the person, the stages and the holdback; a replaced plan has an end, a watched one too."""
    anna = person("4f0c1c6fd0e5", "anna")
    first = await server.rollout.start("guard", STAGES, 10, anna)
    await server.rollout.start("guard", STAGES, 20)
    await server.rollout.end(anna)
    entries = [*reversed(await server.database.read(list_audit, 10))]
    assert [(one.action, one.actor) for one in entries] == [
        ("rollout.started", "anna"),
        ("rollout.ended", "operator"),
        ("rollout.started", "operator"),
        ("rollout.ended", "anna"),
    ]
    assert (entries[0].details["holdback"], entries[2].details["holdback"]) == (10, 20)
    assert entries[0].details["stages"] == [
        {"percent": 50, "minutes": 10, "runs": 100},
        {"percent": 100, "minutes": 10, "runs": 100},
    ]
    assert entries[1].details["plan"] == first.id
    assert entries[1].details["reason"] == "A new plan has replaced it."
    await finished(server)
    await server.rollout.start("guard", STAGES, 10)
    assert (await server.actions())[-3:] == ["rollout.finished", "rollout.ended", "rollout.started"]


async def test_audit_times_rise(server: Server) -> None:
    """The time of an entry is read once no other change is under way, so that later entries have later times."""
    clock = count(1000)
    worker = server.worker(clock=lambda: float(next(clock)))
    await asyncio.gather(worker.set_override(Override("on")), worker.start("guard", STAGES, 10))
    times = [one.at for one in reversed(await server.database.read(list_audit, 20))]
    assert (len(times), times) == (2, sorted(times))
