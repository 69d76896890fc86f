"""The server measures how long a run took, and reports the same duration everywhere."""

from collections.abc import Callable

import pytest
from msgspec import UNSET
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import Content, Done, Reasoning, Stamped
from signalbox.core.parts import TextDelta
from signalbox.core.ports import Loop
from signalbox.runs.recovery import recover
from signalbox.services.tool_executor import ToolExecutor
from signalbox.store.runs.journal import JournalStore

from tests.support.disk import Disk, a_run
from tests.support.fakes import SERVED, ScriptedClient, ending
from tests.support.fixtures import StartApp
from tests.support.loop_runs import context_for, driven, no_wait
from tests.support.scripted_upstream import says
from tests.support.stream_reader import check_stream

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that advances only when a script says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def passes(self, seconds: float) -> Callable[..., object]:
        async def wait() -> None:
            self.now += seconds

        return wait


@pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
async def test_done_has_the_duration_of_the_run(new_loop: Callable[..., Loop]) -> None:
    """From start to end, and to the model's first part, including the wait before the first attempt."""
    clock = Clock()
    slow = [clock.passes(1.5), [SERVED], [TextDelta("Well.")], clock.passes(2.0), ending("stop")]
    context, progress = context_for(), Progress(clock=clock, started=clock.now - 0.5)
    loop = new_loop(LoopInputs(context, ScriptedClient(slow), ToolExecutor(()), progress, sleep=no_wait))
    done = (await driven(loop, context, progress))[-1][-1]
    assert isinstance(done, Done)
    assert (done.duration_ms, done.first_token_ms) == (4000, 2000)


async def test_a_run_that_no_model_answered_has_no_first_token() -> None:
    """Without a part there is no time to the first token."""
    clock = Clock()
    refused = [clock.passes(0.25), UpstreamError(Code.UPSTREAM_AUTH)]
    context, progress = context_for(), Progress(clock=clock, started=clock.now)
    loop = V2Loop(LoopInputs(context, ScriptedClient(refused), ToolExecutor(()), progress, sleep=no_wait))
    done = (await driven(loop, context, progress))[-1][-1]
    assert isinstance(done, Done)
    assert done.duration_ms == 250
    assert done.first_token_ms is UNSET


def test_the_duration_is_the_same_everywhere(start_app: StartApp) -> None:
    """In the stream, its replay, the trace, a snapshot and its replay, and an exported conversation."""
    app, _ = start_app(says("Yes."))
    live = app.post(prompt="Hello!", tools=[], conversation_id="c")
    run_id, done = live.headers["x-run-id"], check_stream(live.content).done
    save_id = app.client.post("/api/saves", json={"run_id": run_id}).json()["id"]
    save = app.client.get(f"/api/saves/{save_id}").json()
    trace = app.client.get(f"/api/runs/{run_id}").json()
    told = [
        done,
        check_stream(app.client.get(f"/api/runs/{run_id}/events").content).done,
        check_stream(app.client.get(f"/api/saves/{save_id}/events").content).done,
        trace["done"],
        save["trace"]["done"],
        save["events"][-1],
        app.client.get("/api/conversations/c/export?format=json").json()["messages"][1]["events"][-1],
    ]
    figures = {(one["duration_ms"], one["first_token_ms"]) for one in told}
    assert len(figures) == 1
    ((took, first),) = figures
    assert 0 <= first <= took
    assert took == pytest.approx((trace["ended"] - trace["started"]) * 1000, abs=50)
    node = app.client.get("/api/conversations/c").json()["messages"][1]
    assert (node["created"], node["ended"]) == (trace["started"], trace["ended"])
    assert (node["first_token_ms"], node["provider"]) == (first, done["provider"])


async def test_a_crashed_run_ended_with_its_last_activity(disk: Disk) -> None:
    """The server was down for years; the run took the four seconds in which it was active."""
    begun = 1_000_000.0
    dead = JournalStore(disk)
    await dead.open(a_run("r", started=begun), lambda seq, reserved: None)
    dead.append("r", [Stamped(1, round(begun * 1000) + 900, Reasoning("Hm"))])
    dead.append("r", [Stamped(2, round(begun * 1000) + 4000, Content("So far"))])
    await dead.aclose()
    store = JournalStore(disk)
    (record,) = await recover(store)
    last = (await store.read_events("r", 0))[-1]
    await store.aclose()
    assert record.ended == begun + 4
    assert isinstance(last.event, Done)
    assert (last.event.duration_ms, last.at) == (4000, round(begun * 1000) + 4000)


async def test_a_crashed_run_without_events_took_no_time(disk: Disk) -> None:
    """Only its start is known."""
    dead = JournalStore(disk)
    await dead.open(a_run("r", started=1_000_000.0), lambda seq, reserved: None)
    await dead.aclose()
    store = JournalStore(disk)
    (record,) = await recover(store)
    await store.aclose()
    assert record.ended == 1_000_000.0
