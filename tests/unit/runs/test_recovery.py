"""After a crash at any event, a run ends once with a valid stream, and its open costs are fetched."""

import asyncio
from collections.abc import MutableMapping, Sequence
from typing import Any

import pytest
from msgspec import json
from msgspec.structs import replace
from signalbox.chat.loops.driver import OpenCalls
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.events import Content, Done, Stamped, ToolCalls, ToolResult, Unsaved
from signalbox.core.messages import AssistantMessage
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import Bill, Request, Served, Usage
from signalbox.core.records import RunRecord
from signalbox.runs.attempts_codec import progress_of, with_figures
from signalbox.runs.billing import Settlements
from signalbox.runs.manager import RunManager
from signalbox.runs.recovery import recover
from signalbox.runs.run import Run
from signalbox.services.tool_executor import ToolExecutor
from signalbox.store.runs.flush import BLOCK
from signalbox.store.runs.journal import JournalStore
from structlog.testing import capture_logs

from tests.support.disk import Disk, a_run
from tests.support.fakes import ScriptedClient, answer, call, calls, make_tool
from tests.support.loop_runs import context_for, no_wait
from tests.support.previews import writer

pytestmark = pytest.mark.anyio


class Diary(JournalStore):
    """A store that also records every event and the figures at that time."""

    pages: list[tuple[Stamped, RunRecord]]
    run: Run | None = None

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        assert self.run is not None
        self.pages += [(stamped, self.run.record()) for stamped in batch]
        super().append(run_id, batch)


async def a_tool_run(disk: Disk) -> list[tuple[Stamped, RunRecord]]:
    """Run with two tools of different kinds, and return the diary."""
    tools = [make_tool("look", eager=True), writer("write")]
    client = ScriptedClient(
        calls(call(0, "look", '{"q": 1}'), call(1, "write", '{"path": "x"}')),
        calls(call(0, "look", '{"q": 2}')),
        answer("All ", "is ", "done."),
    )
    context, progress = context_for(tools), Progress()
    context.streamed_arguments = "previews"
    store = Diary(disk)
    store.pages = []
    manager = RunManager(store)
    loop = V2Loop(LoopInputs(context, client, ToolExecutor(tools), progress, sleep=no_wait))
    starting = asyncio.create_task(manager.start(context, progress, loop))
    while store.run is None:
        await asyncio.sleep(0)
        store.run = manager.live(context.run_id)
    await (await starting).wait()
    await store.aclose()
    return store.pages


async def kept(store: JournalStore, run_id: str, pages: Sequence[tuple[Stamped, RunRecord]]) -> None:
    """Write the beginning of a run, as a killed process leaves it."""
    record = pages[-1][1] if pages else a_run(run_id)
    await store.open(replace(record, id=run_id, ended=None, status=None, code=None), lambda seq, reserved: None)
    store.append(run_id, [stamped for stamped, _ in pages])


async def test_a_run_cut_at_any_event_ends_correctly(disk: Disk) -> None:
    """The stream is valid, each open call has a result, and a possibly missing cost is an estimate."""
    pages = await a_tool_run(disk)
    assert {type(stamped.event).__name__ for stamped, _ in pages} >= {
        *("Preview", "ToolCalls", "ToolExecuting", "ToolResult")
    }
    cuts = [f"cut-{number}" for number in range(len(pages))]
    dead = JournalStore(disk)
    for number, run_id in enumerate(cuts):
        await kept(dead, run_id, pages[:number])
    await dead.aclose()

    store = JournalStore(disk)
    ended = await recover(store)
    await store.aclose()
    assert {record.id for record in ended} == set(cuts)
    for number, run_id in enumerate(cuts):
        record = await store.find(run_id)
        assert record is not None
        told = await store.read_events(run_id, 0)
        before = [stamped for stamped, _ in pages[:number]]
        judge(before, told, record, owes=bool(number) and _owes(pages[number - 1][1]))

    again = JournalStore(disk)
    before = disk.transactions
    assert await recover(again) == []
    assert disk.transactions == before


def judge(before: list[Stamped], told: list[Stamped], record: RunRecord, *, owes: bool) -> None:
    """Check a recovered run against the beginning that was on disk."""
    assert json.encode(told[: len(before)]) == json.encode(before)
    announced = {call.name for one in before if isinstance(one.event, ToolCalls) for call in one.event.calls}
    assert announced <= set(record.tools)
    ending = told[len(before) :]
    events = [stamped.event for stamped in told]
    assert first_fault(events) is None
    assert [stamped.seq for stamped in ending] == list(range(BLOCK + 1, BLOCK + 1 + len(ending)))
    done = ending[-1].event
    assert isinstance(done, Done)
    assert done.unsaved == Unsaved(after=len(before), before=BLOCK + 1)
    was_open = OpenCalls()
    was_open.track([stamped.event for stamped in before])
    results = [stamped.event for stamped in ending if isinstance(stamped.event, ToolResult)]
    assert {result.id for result in results} == set(was_open._open)
    assert all(result.result["code"] == "STEP_FAILED" for result in results)
    announced = [one.id for event in events if isinstance(event, ToolCalls) for one in event.calls]
    assert sorted(announced) == sorted(event.id for event in events if isinstance(event, ToolResult))
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.status, done.code, record.status, record.code) == (*["interrupted", "SERVER_CRASH"] * 2,)
    assert record.seq == told[-1].seq
    assert record.ended is not None
    assert record.cost_estimated is owes
    assert (done.cost_estimated is True) is owes
    assert all(attempt["ended"] is not None for attempt in record.attempts)


def _owes(record: RunRecord) -> bool:
    """Return whether a request was active at this point, so that the provider may have continued it."""
    return any(attempt["ended"] is None for attempt in record.attempts)


async def test_a_stored_ending_stays(disk: Disk) -> None:
    """If `done` is on disk but not the figures, it is not emitted again, and the status is the one clients saw."""
    pages = await a_tool_run(disk)
    dead = JournalStore(disk)
    await kept(dead, "told", pages)
    await dead.aclose()
    store = JournalStore(disk)
    (record,) = await recover(store)
    assert (record.status, record.code, record.seq) == ("complete", None, pages[-1][0].seq)
    assert json.encode(await store.read_events("told", 0)) == json.encode([stamped for stamped, _ in pages])
    await store.aclose()


async def test_a_crash_of_the_recovery_is_recovered_from(disk: Disk) -> None:
    """Killed before its flush, recovery left nothing; the next one emits the ending above all seen numbers."""
    dead = JournalStore(disk)
    await dead.open(a_run("r"), lambda seq, reserved: None)
    dead.append("r", [Stamped(1, 0, Content("So far"))])
    dead.append_turns("r", 1, [AssistantMessage("So far")])
    await dead.aclose()
    half = JournalStore(disk)
    half.flush = _dies  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        await recover(half)
    assert half._worker is None
    assert half._timer is not None
    half._timer.cancel()
    store = JournalStore(disk)
    assert len(await recover(store)) == 1
    assert [s.seq for s in await store.read_events("r", 0)] == [1, BLOCK + 1, BLOCK + 2]
    assert disk.reserved("r") > BLOCK + 2
    await store.aclose()


async def _dies(run_id: str | None = None) -> None:
    raise KeyboardInterrupt


async def test_a_damaged_journal_does_not_prevent_the_start(disk: Disk) -> None:
    """A run with an unreadable row is ended too, and so are the others."""
    dead = JournalStore(disk)
    for run_id in ("bad", "good"):
        await dead.open(a_run(run_id), lambda seq, reserved: None)
        dead.append(run_id, [Stamped(1, 0, Content("So far"))])
    await dead.aclose()
    damage = "UPDATE journal SET frames = X'5B7B' WHERE run_id = 'bad'"
    await disk.write(lambda connection: connection.exec_driver_sql(damage))
    store = JournalStore(disk)
    with capture_logs() as lines:
        assert len(await recover(store)) == 2
    assert [line["event"] for line in lines] == ["runs.unreadable", "runs.recovered"]
    assert [record.code for record in await store.recent(5)] == ["SERVER_CRASH"] * 2
    assert [s.seq for s in await store.read_events("good", 0)] == [1, BLOCK + 1, BLOCK + 2]
    await store.aclose()


GOOD = (
    '{"step":1,"number":1,"final":false,"model":"m","tools":[],"tool_choice":null,"messages":1,"params":[],'
    '"started":1.0,"ended":2.0,"usage":{"input":20,"output":7,"cost":0.02}}'
)
OWED = GOOD.replace('"usage":{"input":20,"output":7,"cost":0.02}', '"generation_id":"gen-1"')


@pytest.mark.parametrize(
    ("column", "damage", "cost"),
    [
        ("attempts", "X'00FF'", None),
        ("attempts", "X'5B22FF225D'", None),
        ("attempts", f"X'{(b'[' * 9999).hex()}'", None),
        ("attempts", "'7'", None),
        ("attempts", """'[{"step":"x"}]'""", None),
        ("attempts", f"""'[{{"step":"x"}},{GOOD}]'""", 0.02),
        ("attempts", f"""'[{GOOD},{OWED},{{"step":"x"}}]'""", 0.02),
        ("flag", "X'00FF'", None),
        ("usage", "X'00FF'", None),
    ],
)
async def test_a_damaged_record_does_not_prevent_the_start(
    disk: Disk, column: str, damage: str, cost: float | None
) -> None:
    """The run ends with what is readable; its cost stays an estimate, whatever bill arrives."""
    dead = JournalStore(disk)
    for run_id in ("bad", "good"):
        await dead.open(a_run(run_id), lambda seq, reserved: None)
        dead.append(run_id, [Stamped(1, 0, Content("So far"))])
    await dead.aclose()
    statement = f"UPDATE runs SET {column} = {damage} WHERE id = 'bad'"
    await disk.write(lambda connection: connection.exec_driver_sql(statement))
    bills, lines = Bills(), list[MutableMapping[str, Any]]()
    for _ in range(2):
        store = JournalStore(disk)
        settlements = Settlements(bills, sleep=no_wait)
        manager = RunManager(store, settlements=settlements)
        with capture_logs() as more:
            await manager.recover()
            await settlements.wait()
        lines += more
        await manager.aclose()
        await store.aclose()
    assert bills.asked == []
    told = [(line["event"], line.get("run_id")) for line in lines]
    assert told == [*([("runs.unreadable", "bad")] if column == "attempts" else []), ("runs.recovered", None)]
    record = await JournalStore(disk).find("bad")
    assert record is not None
    assert (record.status, record.code, record.cost) == ("interrupted", "SERVER_CRASH", cost)
    assert record.cost_estimated is (column == "attempts")
    (*_, last) = await JournalStore(disk).read_events("bad", 0)
    assert isinstance(last.event, Done)
    assert (last.event.cost_estimated is True) is (column == "attempts")


async def test_no_bill_is_fetched_for_a_damaged_record(owing: Disk) -> None:
    """An ended run with unreadable attempts stays unchanged."""
    statement = f"""UPDATE runs SET attempts = '[{OWED},{{"step":"x"}}]' WHERE id = 'stopped'"""
    await owing.write(lambda connection: connection.exec_driver_sql(statement))
    bills, store = Bills(), JournalStore(owing)
    manager = RunManager(store, settlements=Settlements(bills, sleep=no_wait))
    await manager.recover()
    assert manager.settlements is not None
    await manager.settlements.wait()
    await manager.aclose()
    await store.aclose()
    assert bills.asked == ["gen-1"]  # the other run's
    assert owing.rows("SELECT cost_estimated, attempts LIKE '%\"x\"%' FROM runs WHERE id = 'stopped'") == [(1, 1)]


class Bills:
    """A BillSource that knows every generation and records the requests."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def bill(self, generation_id: str, upstream: str) -> Bill | None:
        self.asked.append(generation_id)
        return Bill(Usage(input=20, output=7, cost=0.02), model="openai/sim", provider="P")


@pytest.fixture
async def owing(disk: Disk) -> Disk:
    """Leave one run that a crash cut during an answer, and one that was stopped."""
    progress = Progress()
    context = context_for()
    attempt = progress.begin_attempt(Request("openai/sim", tuple(context.messages)), 1, final=False)
    attempt.set_generation(Served("gen-1"))
    dead = JournalStore(disk)
    for run_id in ("cut", "stopped"):
        await dead.open(with_figures(a_run(run_id), progress), lambda seq, reserved: None)
    progress.attempts[0].ended = 5.0
    dead.save_figures("stopped", lambda: with_figures(a_run("stopped", status="cancelled", ended=9e9), progress))
    await dead.aclose()
    return disk


async def test_open_costs_are_settled_after_a_restart(owing: Disk) -> None:
    """For recovered runs and for earlier ones the bill is fetched once and stored."""
    for asked in (["gen-1", "gen-1"], []):
        bills = Bills()
        store = JournalStore(owing)
        manager = RunManager(store, settlements=Settlements(bills, clock=lambda: 99.0, sleep=no_wait))
        await manager.recover()
        assert manager.settlements is not None
        await manager.settlements.wait()
        assert bills.asked == asked
        await manager.aclose()
        await store.aclose()
        for run_id, status in (("cut", "interrupted"), ("stopped", "cancelled")):
            record = await JournalStore(owing).find(run_id)
            assert record is not None
            assert (record.status, record.cost, record.cost_estimated, record.settled_at) == (status, 0.02, False, 99.0)
            assert progress_of(record).attempts[0].settled


async def test_an_old_cost_stays_an_estimate(disk: Disk) -> None:
    """Providers delete generations, so the bill of an old run is not fetched."""
    progress = Progress()
    progress.begin_attempt(Request("openai/sim", ()), 1, final=False).set_generation(Served("gen-1"))
    progress.attempts[0].ended = 5.0
    store = JournalStore(disk)
    await store.open(with_figures(a_run("old", status="cancelled", ended=5.0), progress), lambda seq, reserved: None)
    bills = Bills()
    manager = RunManager(store, settlements=Settlements(bills, sleep=no_wait))
    await manager.recover()
    assert manager.settlements is not None
    await manager.settlements.wait()
    assert bills.asked == []
    await store.aclose()
