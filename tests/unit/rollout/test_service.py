"""The rollout of a process with SQLite: stages over time, restarts, several workers, and races with operators."""

import asyncio
from typing import Any

import pytest
from signalbox.flags.override import Override
from signalbox.rollout.plan import DEFAULT_STAGES, Stage
from signalbox.store.audit import list_audit

from tests.support.rollout_runs import store_runs
from tests.unit.rollout.rollout_server import STAGES, Server, finished

pytestmark = pytest.mark.anyio


async def test_a_harmless_rollout_reaches_all(server: Server) -> None:
    """Each stage is promoted once it has its time and runs; then V2 is on, and the promotions were told."""
    await server.rollout.start("guard", STAGES, 10)
    assert server.override.current() == Override("percent", 50)
    await server.runs(300)
    await server.rollout.look()
    assert server.override.current() == Override("percent", 50), "ten minutes have not passed"
    await server.runs(310)
    await server.rollout.look()
    assert server.override.current() == Override("percent", 90)
    await server.runs(610)
    await server.rollout.look()
    assert (server.override.current(), (await server.plan()).state) == (Override("on"), "finished")
    assert await server.actions() == ["rollout.started", "rollout.promoted", "rollout.finished"]
    assert [(kind, told["percent"]) for kind, told in server.told] == [
        ("rollout.promoted", 90),
        ("rollout.finished", 100),
    ]
    entry = (await server.database.read(list_audit, 1))[0]
    assert (entry.details["percent"], (await server.plan()).percent) == (100, 100)


async def later(server: Server, number: int, **of_v2: Any) -> None:
    """Let V2 answer, and look when it is time."""
    await server.runs(number, reason="STATIC", **of_v2)
    server.now += 10
    await server.rollout.look()


async def test_a_regression_after_the_end_is_rolled_back(server: Server) -> None:
    """Without legacy runs, V2 becomes worse: the rollout steps back to 50 percent, compares, and takes V2 back."""
    await finished(server)
    await later(server, 100)
    assert server.override.current() == Override("on")
    _, report = await server.rollout.current()
    assert str(report["assessment"]).endswith("No sign of it so far, in 100 runs.")
    await later(server, 30, status="error", code="INTERNAL")
    plan = await server.plan()
    assert (plan.state, plan.stage, server.override.current()) == ("running", 0, Override("percent", 50))
    entry = (await server.database.read(list_audit, 1))[0]
    assert (entry.actor, entry.action) == ("guard", "rollout.stepped_back")
    assert "error endings in 100.0% of its latest" in str(entry.details["reason"])
    await server.runs(40, status="error", code="INTERNAL")
    await server.rollout.look()
    assert server.override.current() == Override("off")
    assert (await server.actions())[-2:] == ["rollout.stepped_back", "rollout.rolled_back"]
    kinds = [kind for kind, _ in server.told]
    assert kinds == ["rollout.promoted", "rollout.finished", "rollout.stepped_back", "rollout.rolled_back"]
    assert (server.told[2][1]["percent"], server.told[2][1]["reason"]) == (50, entry.details["reason"])


async def test_an_outage_after_the_end_takes_nothing_back(server: Server) -> None:
    """If both loops fail alike after the step back, V2 stays; once both work again, it is promoted to the end."""
    await finished(server)
    await later(server, 30, status="error", code="UPSTREAM_UNAVAILABLE")
    assert server.override.current() == Override("percent", 50)
    for percent in (Override("percent", 90), Override("on")):
        await server.runs(610)
        await server.rollout.look()
        assert server.override.current() == percent
    assert "rollout.rolled_back" not in await server.actions()


async def test_a_regression_at_100_percent_steps_back(server: Server) -> None:
    """In the stage of 100 percent, the stage before tells that V2 has become worse."""
    await server.rollout.start("guard", (Stage(50, 10, 100), Stage(100, 60, 100)), 2)
    await server.runs(610)
    await server.rollout.look()
    assert server.override.current() == Override("percent", 98)
    await server.runs(10, status="interrupted", code="STREAM_BROKEN")
    await server.rollout.look()
    assert server.override.current() == Override("percent", 50)
    assert (await server.actions())[-1] == "rollout.stepped_back"


async def test_a_restart_after_the_end_goes_on_watching(server: Server) -> None:
    """Another worker watches once the lease has expired, with the runs of the last minutes."""
    await finished(server)
    await server.runs(30, reason="STATIC", status="error", code="INTERNAL")
    other = server.worker()
    await other.look()
    assert server.override.current() == Override("percent", 50)


async def test_one_worker_watches(server: Server) -> None:
    """After the end, the guard looks every ten seconds, and another worker only if the first no longer does."""
    await finished(server)
    server.now += 10
    await server.rollout.look()
    await server.runs(9, reason="STATIC", status="error", code="INTERNAL")
    for worker in (server.rollout, server.worker()):
        await worker.look()
        assert server.override.current() == Override("on")
    server.now += 1
    await server.rollout.look()
    assert server.override.current() == Override("percent", 50)


@pytest.mark.parametrize("does", ["flag", "end"])
async def test_an_operator_ends_the_watch(server: Server, does: str) -> None:
    """After the flag was set or the rollout ended, V2 stays as the operator wants it."""
    await finished(server)
    if does == "flag":
        await server.rollout.set_override(Override("on"))
    else:
        await server.rollout.end()
    await later(server, 100, status="error", code="INTERNAL")
    assert server.override.current() == Override("on")
    assert (await server.plan()).state == "finished"
    assert (await server.actions())[-1] == {"flag": "rollout.overridden", "end": "rollout.ended"}[does]


async def test_a_restart_reads_the_stage_again(server: Server) -> None:
    """A worker that takes over has the same figures, and rolls back with the runs that came before it."""
    await server.rollout.start("guard", STAGES, 10)
    await server.runs(4, status="error", code="INTERNAL")
    await server.rollout.look()
    assert (await server.plan()).is_running
    other = server.worker()
    await other.look()
    assert (await other.current())[1]["at"] == server.now, "the same clock"
    server.now += 10
    await server.runs(30, status="error", code="INTERNAL")
    await other.look()
    assert server.override.current() == Override("off")
    entry = (await server.database.read(list_audit, 1))[0]
    assert (entry.action, entry.actor) == ("rollout.rolled_back", "guard")
    figures: Any = entry.details["figures"]
    assert figures["stage"]["v2"]["error"] == figures["stage"]["legacy"]["runs"] == 34
    assert [kind for kind, _ in server.told] == ["rollout.rolled_back"]


async def test_one_worker_evaluates(server: Server) -> None:
    """The second worker evaluates only after the lease of the first has expired."""
    await server.rollout.start("guard", STAGES, 10)
    await server.rollout.look()
    await server.runs(60, status="error", code="INTERNAL")
    server.now -= 58
    other = server.worker()
    await other.look()
    assert (await server.plan()).is_running
    server.now += 58
    await other.look()
    assert (await server.plan()).state == "rolled_back"


async def test_a_crash_before_the_flag_is_set_is_made_up_for(server: Server) -> None:
    """The plan is stored before the flag; the next look sets the flag."""
    await server.rollout.start("guard", STAGES, 10)
    await server.override.store(Override("off"))
    await server.rollout.end()
    fail = server.worker()

    async def crash(override: Override | None) -> None:
        raise OSError(override)

    server.override.store = crash
    with pytest.raises(OSError, match="percent"):
        await fail.start("guard", STAGES, 10)
    del server.override.store
    assert server.override.current() == Override("off")
    await server.rollout.look()
    assert server.override.current() == Override("percent", 50)
    assert (await server.plan()).is_running


async def test_a_flag_that_was_changed_elsewhere_ends_the_plan(server: Server) -> None:
    """An edit of the file counts as an override by the operator."""
    await server.rollout.start("guard", STAGES, 10)
    server.override.write(Override("percent", 7))
    await server.rollout.look()
    assert server.override.current() == Override("percent", 7)
    assert (await server.plan()).state == "overridden"
    assert await server.actions() == ["rollout.started", "rollout.overridden"]


async def test_the_kill_switch_stops_the_plan(server: Server) -> None:
    """With the kill switch, nothing is promoted or rolled back."""
    worker = server.worker(kill_switch=True)
    await worker.start("guard", STAGES, 10)
    await server.runs(700)
    await worker.look()
    plan, report = await worker.current()
    assert plan is not None
    assert (plan.stage, plan.is_running) == (0, True)
    assert str(report["assessment"]).startswith("TOOL_LOOP_V2=false is set")


async def test_time_under_the_kill_switch_does_not_count(server: Server) -> None:
    """The stage goes on where it was; another worker with the kill switch changes nothing."""
    await server.rollout.start("guard", STAGES, 10)
    await server.runs(310)
    for _ in range(2):
        await server.worker(kill_switch=True).look()
        server.now += 3600
    await server.rollout.look()
    plan, report = await server.rollout.current()
    assert plan is not None
    assert (plan.stage, plan.paused, plan.paused_since) == (0, 7200, None)
    assert "310 of 100 V2 runs, 310 legacy runs, 5 of 10 minutes" in str(report["assessment"])
    await server.runs(280)
    await server.rollout.look()
    assert server.override.current() == Override("percent", 50)
    await server.runs(20)
    await server.rollout.look()
    assert (server.override.current(), (await server.plan()).paused) == (Override("percent", 90), 0)


async def test_a_new_plan_keeps_the_percentage(server: Server) -> None:
    """Only the guard raises the percentage: a stage of the running percentage is inserted."""
    await server.rollout.start("guard", STAGES, 10)
    plan = await server.rollout.start("guard", (Stage(5), Stage(25), Stage(60, 10, 100), Stage(100)), 10)
    assert [one.percent for one in plan.stages] == [5, 25, 50, 60, 100]
    assert (plan.current, server.override.current()) == (Stage(50, 10, 100), Override("percent", 50))
    await server.runs(610)
    await server.rollout.look()
    assert server.override.current() == Override("percent", 60)


async def test_concurrent_plans_do_not_raise_the_percentage(server: Server) -> None:
    """Whatever the order, V2 has at most the percentage with which the first of them began."""
    workers = [server.worker() for _ in range(6)]
    plans = [(Stage(10), Stage(50)), (Stage(30), Stage(60))] * 3
    await asyncio.gather(*(worker.start("guard", stages, 10) for worker, stages in zip(workers, plans, strict=True)))
    assert server.override.current() in (Override("percent", 10), Override("percent", 30))
    assert server.override.current() == (await server.plan()).override


async def test_late_rows_and_earlier_runs(server: Server) -> None:
    """A run that is stored some seconds after its end counts once; runs that began before the stage do not count."""
    await server.rollout.start("guard", STAGES, 10)
    await server.runs(10)
    await server.rollout.look()
    server.now -= 5
    await server.runs(1)
    server.now += 4
    for _ in range(2):
        await server.rollout.look()
    await store_runs(server.database, [server.now], loops=("v2",), prefix="early", started=1.0)
    await server.rollout.look()
    _, report = await server.rollout.current()
    figures: Any = report["figures"]
    assert figures["stage"]["v2"]["runs"] == figures["1m"]["v2"]["runs"] == 11
    assert figures["stage"]["v2"]["first_token_ms"] == 200
    assert figures["stage"]["v2"]["cost"] == 0.1


async def test_observing_follows_the_flag(server: Server) -> None:
    """Each percentage that an operator sets is compared anew; the plan reports it, and goes on."""
    await server.rollout.set_override(Override("percent", 20))
    plan = await server.rollout.start("observe", DEFAULT_STAGES, 10)
    assert (plan.percent, plan.stages) == (20, (Stage(20),))
    await server.runs(60)
    await server.rollout.set_override(Override("percent", 40))
    await server.rollout.look()
    plan = await server.plan()
    assert (plan.is_running, plan.percent, plan.stage_started) == (True, 40, server.now)
    await server.runs(60, status="error", code="INTERNAL")
    for _ in range(2):
        await server.rollout.look()
    _, report = await server.rollout.current()
    figures: Any = report["figures"]
    assert figures["stage"]["v2"]["runs"] == 60
    assert str(report["assessment"]).startswith("V2 is worse than legacy")
    assert server.override.current() == Override("percent", 40)
    assert await server.actions() == ["flag.set", "rollout.started", "flag.set", "rollout.regression"]
    assert [(kind, told["percent"]) for kind, told in server.told] == [("rollout.regression", 40)]


@pytest.mark.parametrize(
    ("override", "percent"), [(None, 100), (Override("on"), 100), (Override("off"), 0), (Override("percent", 0), 0)]
)
async def test_observing_one_loop(server: Server, override: Override | None, percent: int) -> None:
    """If all conversations use one loop, the assessment says what to set; a change of the flag elsewhere counts."""
    await server.rollout.start("observe", DEFAULT_STAGES, 10)
    await server.override.store(override)
    await server.rollout.look()
    plan, report = await server.rollout.current()
    assert plan is not None
    assert (plan.is_running, plan.percent) == (True, percent)
    assert str(report["assessment"]).startswith(f"{percent} percent of the conversations use V2, so there is nothing")
