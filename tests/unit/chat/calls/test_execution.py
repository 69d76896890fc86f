"""Running calls: each announced one is answered once; equal searches are sent once; tools overlap up to a cap."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from signalbox.chat.calls.execution import ToolExecution, execute_tool_calls
from signalbox.chat.calls.repair import RepairedCall
from signalbox.chat.context import Limits
from signalbox.core.codes import Code
from signalbox.core.errors import StoreError, ToolError
from signalbox.core.events import AnyEvent, Failure, ToolCalls, ToolExecuting, ToolResult, Warning
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolOutcome
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.search_web import search_web

from tests.support.fakes import FakeSearch, make_tool
from tests.support.loop_runs import Seen, context_for

pytestmark = pytest.mark.anyio


class Watched(ToolExecution, kw_only=True):
    """An execution, and all that it has told."""

    seen: Seen


def execution_of(tools: Sequence[Tool], *, offered: Sequence[Tool] | None = None, **limits: int) -> Watched:
    """Make an execution with these tools on offer."""
    context, seen = context_for(tools if offered is None else offered, limits=Limits(**limits)), Seen()
    known, room = ToolContext(run_id=context.run_id), asyncio.Semaphore(context.limits.tools_at_once)
    return Watched(context, ToolExecutor(tools), known, seen.emit, room, seen=seen)


def search(query: str, **more: object) -> RepairedCall:
    """Call search_web."""
    return RepairedCall("search_web", {"query": query, **more}, None)  # type: ignore[dict-item]


def named(name: str, **arguments: object) -> RepairedCall:
    """Call a tool by name."""
    return RepairedCall(name, dict(arguments), f"up_{name}")  # type: ignore[arg-type]


async def execute(execution: Watched, *calls: RepairedCall) -> list[AnyEvent]:
    """Run calls to their ends, and return what was told of them."""
    before = len(execution.seen)
    await execute_tool_calls(execution, calls, 1)
    return execution.seen[before:]


def results(events: Sequence[AnyEvent]) -> list[ToolResult]:
    """Return the results among events, in the order of the announcements."""
    order = [call.id for event in events if isinstance(event, ToolCalls) for call in event.calls]
    found = [event for event in events if isinstance(event, ToolResult)]
    assert sorted(result.id for result in found) == sorted(order)
    return sorted(found, key=lambda result: order.index(result.id))


def codes(events: Sequence[AnyEvent]) -> list[str | None]:
    """Return each result's code, None for a success."""
    return [getattr(result.result, "code", None) for result in results(events)]


@dataclass
class Doors:
    """Tools that wait until the test lets them go, and tell how many are inside."""

    inside: int = 0
    most: int = 0
    entered: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def tool(self, name: str) -> Tool:
        """Make a tool behind a door of its own."""
        self.gates[name] = asyncio.Event()

        async def work(arguments: JsonObject, context: ToolContext) -> str:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.entered.put_nowait(name)
            try:
                await self.gates[name].wait()
            finally:
                self.inside -= 1
            return f"{name} done"

        return make_tool(name, work, eager=True)  # what is not eager waits for the disk first: see below


# --- announce, execute, answer ---


async def test_the_order_of_one_call() -> None:
    """Announced, executing, answered; with its metadata on each event and our id in all of them."""
    events = await execute(execution_of([search_web(FakeSearch(), None)]), search("tides"))
    assert [type(event) for event in events] == [ToolCalls, ToolExecuting, ToolResult]
    announced, executing, result = events
    assert isinstance(announced, ToolCalls)
    assert isinstance(executing, ToolExecuting)
    assert isinstance(result, ToolResult)
    [call] = announced.calls
    assert call.id == executing.id == result.id
    assert {(e.category, e.visibility) for e in (call, executing, result)} == {("search", "primary")}


async def test_calls_run_side_by_side() -> None:
    """Three calls are inside their tools at the same time, and each answers when it is ready, not in order."""
    doors = Doors()
    execution = execution_of([doors.tool(name) for name in "abc"])
    running = asyncio.create_task(execute(execution, named("a"), named("b"), named("c")))
    assert {await doors.entered.get() for _ in range(3)} == {"a", "b", "c"}
    for name in ("c", "a", "b"):
        doors.gates[name].set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    events = await running
    assert [e.name for e in events if isinstance(e, ToolResult)] == ["c", "a", "b"]
    assert doors.most == 3


async def test_the_cap_holds() -> None:
    """No more than two at once: the third starts, and says so, when one of them has left."""
    doors = Doors()
    execution = execution_of([doors.tool(name) for name in "abc"], tools_at_once=2)
    running = asyncio.create_task(execute(execution, named("a"), named("b"), named("c")))
    assert {await doors.entered.get(), await doors.entered.get()} == {"a", "b"}
    for _ in range(5):
        await asyncio.sleep(0)
    assert doors.entered.empty()
    doors.gates["b"].set()
    assert await doors.entered.get() == "c"
    doors.gates["a"].set()
    doors.gates["c"].set()
    events = await running
    assert doors.most == 2
    order = [(type(e).__name__, e.name) for e in events if isinstance(e, ToolExecuting | ToolResult)]
    assert order.index(("ToolResult", "b")) < order.index(("ToolExecuting", "c"))


async def test_results_leave_as_they_come() -> None:
    """A quick call's result is told while a slow one still runs."""
    doors = Doors()
    execution = execution_of([doors.tool("slow"), make_tool("quick")])
    running = asyncio.create_task(execute_tool_calls(execution, [named("slow"), named("quick")], 1))
    await execution.seen.until("ToolResult")
    assert [e.name for e in execution.seen if isinstance(e, ToolResult)] == ["quick"]
    assert not running.done()
    doors.gates["slow"].set()
    await running
    assert [e.name for e in execution.seen if isinstance(e, ToolResult)] == ["quick", "slow"]


async def test_ids_are_ours_and_unique() -> None:
    """Ten calls of one name, all with one upstream id, are announced under ten ids (A15)."""
    execution = execution_of([make_tool("f")])
    events = await execute(execution, *[RepairedCall("f", {}, "call_0")] * 10)
    assert len({result.id for result in results(events)}) == 10
    assert {call.upstream_id for call in execution.calls} == {"call_0"}


async def test_unknown_tools_are_answered_with_the_names() -> None:
    """A tool that is not offered, even if it exists, is answered with those that are; it never runs (A14)."""
    ran: list[object] = []
    hidden = make_tool("hidden", lambda arguments, context: ran.append(arguments))
    offered = make_tool("f")
    execution = execution_of([offered, hidden], offered=[offered])
    events = await execute(execution, named("hidden"), named("nothing"), named("multi_tool_use.parallel"))
    assert codes(events) == [Code.UNKNOWN_TOOL] * 3
    assert not any(isinstance(event, ToolExecuting) for event in events)
    assert not ran
    texts = [str(getattr(result.result, "error", "")) for result in results(events)]
    assert all(" f." in text for text in texts)
    assert not any("hidden" in text.split("The tools are")[1] for text in texts)


@pytest.mark.parametrize("name", ["functions.f", "default_api.f", "a.b.f"])
async def test_a_namespace_is_taken_off(name: str) -> None:
    """Models put namespaces before names; the tool is called and announced by its own (A14)."""
    events = await execute(execution_of([make_tool("f")]), named(name, q=1))
    assert codes(events) == [None]
    assert {result.name for result in results(events)} == {"f"}


async def test_a_dotted_name_that_is_offered_is_itself() -> None:
    """A tool that really has a dot in its name is not stripped."""
    events = await execute(execution_of([make_tool("f"), make_tool("x.f")]), named("x.f"))
    assert [result.name for result in results(events)] == ["x.f"]


async def test_bad_arguments_are_answered_before_anything_runs() -> None:
    """The schema decides first; the sentence names the field (PS-20)."""
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    events = await execute(execution_of([make_tool("f", parameters=schema)]), named("f", n="3"), named("f"))
    assert codes(events) == [Code.INVALID_ARGUMENTS] * 2
    assert all("n" in str(getattr(result.result, "error", "")) for result in results(events))
    assert not any(isinstance(event, ToolExecuting) for event in events)


async def test_a_call_with_a_fault_shows_its_text() -> None:
    """What could not be read is shown as it came, bounded."""
    fault = ToolOutcome.failed(Code.ARGUMENTS_CUT, "cut")
    [announced, result] = await execute(execution_of([make_tool("f")]), RepairedCall("f", {}, "c", fault, "{" * 5000))
    assert isinstance(announced, ToolCalls)
    assert announced.calls[0].arguments == "{" * 2000
    assert codes([announced, result]) == [Code.ARGUMENTS_CUT]


async def test_a_broken_runner_still_answers() -> None:
    """Should the runner break its promise and raise, the call is answered."""
    execution = execution_of([make_tool("f")])

    class Broken(ToolExecutor):
        async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
            raise RuntimeError("secret")

    execution.tools = Broken([make_tool("f")])
    events = await execute(execution, named("f"))
    assert codes(events) == [Code.TOOL_FAILED]
    assert "secret" not in str(events)


# --- dedupe ---

SAME = ["tidal power", "  Tidal   POWER ", '"tidal power"', "ｔｉｄａｌ power", "“Tidal power”"]


@pytest.mark.parametrize("other", SAME)
async def test_equal_searches_are_sent_once(other: str) -> None:
    """Case, width, spaces and outer quotes do not make another search; the second is marked as cached (PS-17)."""
    backend = FakeSearch()
    execution = execution_of([search_web(backend, None)])
    first, second = results(await execute(execution, search(SAME[0]), search(other)))
    assert len(backend.asked) == 1
    assert (first.cached, second.cached) == (first.cached, True)
    assert first.cached is not True
    assert first.result == second.result


@pytest.mark.parametrize(
    "more", [{"time_hint": "week"}, {"after": "2026-01-01"}, {"before": "2026-01-01"}], ids=lambda m: next(iter(m))
)
async def test_time_filters_make_another_search(more: dict[str, str]) -> None:
    """The same words of another time are another search."""
    backend = FakeSearch()
    await execute(execution_of([search_web(backend, None)]), search("x"), search("x", **more), search("x", **more))
    assert len(backend.asked) == 2


async def test_a_search_under_way_is_awaited() -> None:
    """An equal search joins the one that is running: one executing event, two results, both when it is done."""
    backend = FakeSearch(gate=asyncio.Event())
    execution = execution_of([search_web(backend, None)])
    running = asyncio.create_task(execute(execution, search("x"), search("X"), search(" x ")))
    await backend.arrived.wait()
    assert not any(call.outcome for call in execution.calls)
    backend.gate.set()  # type: ignore[union-attr]
    events = await running
    assert len(backend.asked) == 1
    assert sum(isinstance(event, ToolExecuting) for event in events) == 1
    assert [result.cached is True for result in results(events)] == [False, True, True]


async def test_a_failure_is_shared_but_not_kept() -> None:
    """Who waits for a failing search gets its failure; who asks later sends it again (PS-17)."""
    backend = FakeSearch(gate=asyncio.Event(), fail=lambda query: ToolError(Code.RATE_LIMIT, "slow down"))
    execution = execution_of([search_web(backend, None)])
    running = asyncio.create_task(execute(execution, search("x"), search("x")))
    await backend.arrived.wait()
    backend.gate.set()  # type: ignore[union-attr]
    events = await running
    assert codes(events) == [Code.RATE_LIMIT] * 2
    assert not any(result.cached is True for result in results(events))
    assert len(backend.asked) == 1
    backend.fail = lambda query: None
    assert codes(await execute(execution, search("x"))) == [None]
    assert len(backend.asked) == 2


async def test_other_tools_are_never_deduped() -> None:
    """Only a tool that says how its calls are equal is deduped."""
    ran: list[object] = []
    tool = make_tool("f", lambda arguments, context: ran.append(arguments))
    await execute(execution_of([tool]), named("f", a=1), named("f", a=1))
    assert len(ran) == 2


# --- clamp ---


def warnings(events: Sequence[AnyEvent]) -> list[Warning]:
    """Return the warnings among events."""
    return [event for event in events if isinstance(event, Warning)]


async def test_eight_searches_six_sent() -> None:
    """Six go out, all eight are answered, and one warning tells it (PS-18)."""
    backend = FakeSearch()
    events = await execute(execution_of([search_web(backend, None)]), *(search(f"q{n}") for n in range(8)))
    assert len(backend.asked) == 6
    assert codes(events) == [None] * 6 + [Code.TOOL_CLAMP] * 2
    assert [warning.code for warning in warnings(events)] == [Code.TOOL_CLAMP]


async def test_failed_searches_count_and_equal_ones_do_not() -> None:
    """A search that fails was sent; one that is reused was not; the warning comes once over many steps."""
    backend = FakeSearch(fail=lambda query: ToolError(Code.TOOL_FAILED, "no") if query.text == "bad" else None)
    execution = execution_of([search_web(backend, None)], max_searches=2)
    first = await execute(execution, search("bad"), search("good"), search("GOOD"))
    assert codes(first) == [Code.TOOL_FAILED, None, None]
    assert not warnings(first)
    second = await execute(execution, search("good"), search("bad"), search("new"))
    assert codes(second) == [None, Code.TOOL_CLAMP, Code.TOOL_CLAMP]
    assert len(warnings(second)) == 1
    assert not warnings(await execute(execution, search("newer")))
    assert len(backend.asked) == 2


async def test_equal_keys_of_two_tools_are_two_searches() -> None:
    """A key says what makes searches of one tool equal; another tool may make the same."""
    tools = [make_tool("books"), make_tool("films")]
    tools = [replace(tool, spec=replace(tool.spec, search_key=lambda _: "same")) for tool in tools]
    events = await execute(execution_of(tools), named("books"), named("films"), named("books"))
    assert [result.cached is True for result in results(events)] == [False, False, True]


async def test_no_searches_allowed() -> None:
    """A limit of zero sends none and answers all."""
    backend = FakeSearch()
    events = await execute(execution_of([search_web(backend, None)], max_searches=0), search("a"), search("b"))
    assert codes(events) == [Code.TOOL_CLAMP] * 2
    assert len(warnings(events)) == 1
    assert not backend.asked


async def test_a_search_that_was_not_offered_is_answered_with_the_reason() -> None:
    """Where no search may be sent none is offered; a model that calls it anyway reads why."""
    execution = execution_of([search_web(FakeSearch(), None)], offered=[], max_searches=0)
    [result] = results(await execute(execution, search("a")))
    assert isinstance(result.result, Failure)
    assert (result.result.code, result.result.error) == (
        Code.TOOL_CLAMP,
        "No searches may be sent for this answer (max_searches is 0); answer without them.",
    )


async def test_invalid_searches_do_not_count() -> None:
    """What the schema or the tool refuses was never sent."""
    backend = FakeSearch()
    execution = execution_of([search_web(backend, None)], max_searches=1)
    for bad in (search("\n"), search("x", after="not a day"), search("x", num_results=99)):
        assert codes(await execute(execution, bad)) == [Code.INVALID_ARGUMENTS]
    assert codes(await execute(execution, search("x"))) == [None]
    assert len(backend.asked) == 1


async def test_the_clamp_is_for_searches_alone() -> None:
    """Other tools are not counted and not clamped."""
    tools = [search_web(FakeSearch(), None), make_tool("f")]
    calls = [search("a"), *[named("f")] * 5]
    assert codes(await execute(execution_of(tools, max_searches=1), *calls)) == [None] * 6


# --- what may change something is on disk before it starts ---


class Disk:
    """What a run is kept on: it tells of each wait, and lets it go on, or fails it, when the test says so."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.told_before: list[str] = []
        self.waits: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

    async def recorded(self) -> None:
        self.told_before = self.seen.kinds
        wait: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waits.put_nowait(wait)
        await wait


def on_disk(ran: list[str], *, eager: bool = False) -> tuple[Watched, Disk]:
    """Make an execution of one tool that notes when it runs, over such a disk."""
    tool = make_tool("write", lambda arguments, context: ran.append("write"), eager=eager)
    execution = execution_of([tool])
    disk = Disk(execution.seen)
    execution.context.flush = disk.recorded
    return execution, disk


async def test_a_call_that_may_change_something_is_on_disk_before_it_runs() -> None:
    """Its events have left first, then they are durable, then it runs: after a crash the model is told of it."""
    ran: list[str] = []
    execution, disk = on_disk(ran)
    [call] = execution.announce([named("write")], 1)
    execution.start(call)
    wait = await asyncio.wait_for(disk.waits.get(), 30)
    assert disk.told_before == ["ToolCalls", "ToolExecuting"]
    for _ in range(5):
        await asyncio.sleep(0)
    assert ran == []
    wait.set_result(None)
    await execution.wait_for_results()
    assert ran == ["write"]
    assert codes(execution.seen) == [None]


async def test_a_call_that_cannot_be_recorded_is_not_run() -> None:
    """The disk is away: the model is told that nothing was done, and goes on."""
    ran: list[str] = []
    execution, disk = on_disk(ran)

    async def fails() -> None:
        (await disk.waits.get()).set_exception(StoreError(Code.STORE_UNAVAILABLE))

    failing = asyncio.create_task(fails())
    assert codes(await execute(execution, named("write"))) == [Code.STORE_UNAVAILABLE]
    assert ran == []
    await failing


async def test_a_call_that_only_reads_waits_for_no_disk() -> None:
    """It may be made again: it starts at once, while the disk does not answer."""
    ran: list[str] = []
    execution, disk = on_disk(ran, eager=True)
    assert codes(await execute(execution, named("write"))) == [None]
    assert (ran, disk.waits.empty()) == (["write"], True)


async def test_a_call_that_is_withdrawn_before_it_is_on_disk_never_runs() -> None:
    """A stop while it waits: its one result says why."""
    ran: list[str] = []
    execution, disk = on_disk(ran)
    [call] = execution.announce([named("write")], 1)
    execution.start(call)
    wait = await asyncio.wait_for(disk.waits.get(), 30)
    execution.withdraw(call, Code.CANCELLED)
    await execution.aclose()
    assert wait.cancelled()
    assert codes(execution.seen) == [Code.CANCELLED]
    assert ran == []


# --- withdrawal and the end ---


async def test_a_withdrawn_call_is_answered_and_stopped() -> None:
    """Its work is cancelled, its one result says why, and nothing comes after it."""
    doors = Doors()
    execution = execution_of([doors.tool("a")])
    [call] = execution.announce([named("a")], 1)
    execution.start(call)
    await doors.entered.get()
    execution.withdraw(call, Code.SUPERSEDED)
    assert call.task is not None
    await asyncio.wait({call.task})
    doors.gates["a"].set()
    await asyncio.sleep(0)
    told = [*execution.seen]
    assert codes(told) == [Code.SUPERSEDED]
    assert doors.inside == 0
    execution.withdraw(call, Code.STEP_FAILED)
    execution.answer(call, ToolOutcome(True, "late"))
    assert execution.seen == told
    await asyncio.wait_for(execution.wait_for_results(), 30)


async def test_a_withdrawn_call_that_waits_for_room_never_executes() -> None:
    """A call behind the cap that is withdrawn tells no executing event and never runs."""
    doors = Doors()
    execution = execution_of([doors.tool("a"), doors.tool("b")], tools_at_once=1)
    first, second = execution.announce([named("a"), named("b")], 1)
    execution.start(first)
    execution.start(second)
    await doors.entered.get()
    execution.withdraw(second, Code.STEP_FAILED)
    doors.gates["a"].set()
    await execution.wait_for_results()
    assert doors.entered.empty()
    assert [e.id for e in execution.seen if isinstance(e, ToolExecuting)] == [first.id]


@pytest.mark.parametrize("gone", [0, 1])
async def test_withdrawing_one_of_two_equal_searches_keeps_the_other(gone: int) -> None:
    """The search goes on for who still waits for it, whichever of the two sent it."""
    backend = FakeSearch(gate=asyncio.Event())
    execution = execution_of([search_web(backend, None)])
    both = execution.announce([search("x"), search("x")], 1)
    for call in both:
        execution.start(call)
    await backend.arrived.wait()
    execution.withdraw(both[gone], Code.SUPERSEDED)
    await asyncio.sleep(0)
    backend.gate.set()  # type: ignore[union-attr]
    await execution.wait_for_results()
    events = execution.seen
    assert {r.id: getattr(r.result, "code", None) for r in events if isinstance(r, ToolResult)} == {
        both[gone].id: Code.SUPERSEDED,
        both[1 - gone].id: None,
    }


async def test_closing_answers_every_open_call_once() -> None:
    """At the end of a run all that is open is answered, and no task is left."""
    doors = Doors()
    execution = execution_of([doors.tool("a"), make_tool("f", eager=True)])
    open_, done, waiting = execution.announce([named("a"), named("f"), named("f")], 1)
    execution.start(open_)
    execution.start(done)
    await doors.entered.get()
    assert done.task is not None
    await asyncio.wait({done.task})
    execution.close_open(Code.CANCELLED)
    assert codes(execution.seen) == [Code.CANCELLED, None, Code.CANCELLED]
    await execution.aclose()
    assert doors.inside == 0
    assert waiting.outcome is not None


async def test_a_tool_that_swallows_its_cancellation_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits for a moment, not for a stubborn tool."""
    monkeypatch.setattr("signalbox.chat.calls.execution._STOP_SECONDS", 0.01)
    release, entered = asyncio.Event(), asyncio.Event()

    async def stubborn(arguments: JsonObject, context: ToolContext) -> str:
        entered.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    execution = execution_of([make_tool("f", stubborn, timeout=60, eager=True)])
    [call] = execution.announce([named("f")], 1)
    execution.start(call)
    await entered.wait()
    await execution.aclose()
    assert call.task is not None
    assert not call.task.done()
    release.set()
    await asyncio.wait({call.task})


async def test_nothing_is_told_after_the_end() -> None:
    """A tool that goes on through its cancellation, and an answer that comes late, are heard by nobody."""
    release, entered, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def tidies_up(arguments: JsonObject, context: ToolContext) -> str:
        try:
            entered.set()
            await release.wait()
        finally:
            over.set()
        return "late"

    execution = execution_of([make_tool("f", tidies_up, timeout=60, eager=True)])
    ran, never_ran = execution.announce([named("f"), named("f")], 1)
    execution.start(ran)
    await entered.wait()
    await execution.aclose()
    assert over.is_set()
    execution.answer(never_ran, ToolOutcome(True, "late"))
    assert execution.announce([named("f")], 2)
    assert execution.seen.kinds == ["ToolCalls", "ToolExecuting"]


async def test_settled_means_every_call_that_was_announced() -> None:
    """Where none is open it is so at once; one that is announced while somebody waits is waited for too."""
    execution = execution_of([make_tool("f")])
    await asyncio.wait_for(execution.wait_for_results(), 30)
    [first] = execution.announce([named("f")], 1)
    waiting = asyncio.create_task(execution.wait_for_results())
    await asyncio.sleep(0)
    execution.answer(first, ToolOutcome(True, 1))
    [second] = execution.announce([named("f")], 1)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not waiting.done()
    execution.answer(second, ToolOutcome(True, 2))
    await asyncio.wait_for(waiting, 30)


# --- history ---


async def test_what_enters_the_history() -> None:
    """Canonical arguments and the outcome in words; a call without one counts as failed (A8)."""
    execution = execution_of([make_tool("f", lambda arguments, context: {"x": 1})])
    await execute(execution, named("f", q="é"))
    [call] = execution.calls
    told, result = call.message()
    assert (told.id, told.upstream_id, told.arguments) == (call.id, "up_f", {"q": "é"})
    assert result.content == '{"x":1}'
    [open_] = execution.announce([named("f")], 1)
    assert "STEP_FAILED" in open_.message()[1].content
