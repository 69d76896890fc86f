"""Executing calls: one result for each announced call, equal searches are sent once, concurrency is limited."""

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
    """An execution, and all events that it has emitted."""

    seen: Seen


def execution_of(tools: Sequence[Tool], *, offered: Sequence[Tool] | None = None, **limits: int) -> Watched:
    """Return an execution that offers these tools."""
    context, seen = context_for(tools if offered is None else offered, limits=Limits(**limits)), Seen()
    known, room = ToolContext(run_id=context.run_id), asyncio.Semaphore(context.limits.tools_at_once)
    return Watched(context, ToolExecutor(tools), known, seen.emit, room, seen=seen)


def search(query: str, **more: object) -> RepairedCall:
    """Return a call of search_web."""
    return RepairedCall("search_web", {"query": query, **more}, None)  # type: ignore[dict-item]


def named(name: str, **arguments: object) -> RepairedCall:
    """Return a call of a tool by name."""
    return RepairedCall(name, dict(arguments), f"up_{name}")  # type: ignore[arg-type]


async def execute(execution: Watched, *calls: RepairedCall) -> list[AnyEvent]:
    """Execute calls until each has its result, and return the emitted events."""
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
    """Return the code of each result, None for a success."""
    return [getattr(result.result, "code", None) for result in results(events)]


@dataclass
class Doors:
    """Tools that block until the test releases them, and report how many are running."""

    inside: int = 0
    most: int = 0
    entered: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def tool(self, name: str) -> Tool:
        """Return a tool that blocks until it is released."""
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
    """A call is announced, executed and answered; each event has its metadata and the same id."""
    events = await execute(execution_of([search_web(FakeSearch(), None)]), search("tides"))
    assert [type(event) for event in events] == [ToolCalls, ToolExecuting, ToolResult]
    announced, executing, result = events
    assert isinstance(announced, ToolCalls)
    assert isinstance(executing, ToolExecuting)
    assert isinstance(result, ToolResult)
    [call] = announced.calls
    assert call.id == executing.id == result.id
    assert {(e.category, e.visibility) for e in (call, executing, result)} == {("search", "primary")}


async def test_calls_run_concurrently() -> None:
    """Three calls execute at the same time, and each is answered when it is ready."""
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


async def test_concurrent_tools_are_limited() -> None:
    """At most two tools execute at once; the third starts, and emits that, when one has finished."""
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


async def test_results_are_emitted_as_tools_finish() -> None:
    """The result of a fast call is emitted while a slow one is still running."""
    doors = Doors()
    execution = execution_of([doors.tool("slow"), make_tool("quick")])
    running = asyncio.create_task(execute_tool_calls(execution, [named("slow"), named("quick")], 1))
    await execution.seen.until("ToolResult")
    assert [e.name for e in execution.seen if isinstance(e, ToolResult)] == ["quick"]
    assert not running.done()
    doors.gates["slow"].set()
    await running
    assert [e.name for e in execution.seen if isinstance(e, ToolResult)] == ["quick", "slow"]


async def test_calls_get_unique_ids() -> None:
    """Ten calls of one name with the same upstream id are announced under ten ids (A15)."""
    execution = execution_of([make_tool("f")])
    events = await execute(execution, *[RepairedCall("f", {}, "call_0")] * 10)
    assert len({result.id for result in results(events)}) == 10
    assert {call.upstream_id for call in execution.calls} == {"call_0"}


async def test_unknown_tools_get_the_list_of_tools() -> None:
    """A tool that is not offered never runs; its result lists the offered ones (A14)."""
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
async def test_a_namespace_is_removed(name: str) -> None:
    """Models put namespaces before names; the call is announced and executed without it (A14)."""
    events = await execute(execution_of([make_tool("f")]), named(name, q=1))
    assert codes(events) == [None]
    assert {result.name for result in results(events)} == {"f"}


async def test_an_offered_name_with_a_dot_is_unchanged() -> None:
    """The name of a tool that contains a dot is not shortened."""
    events = await execute(execution_of([make_tool("f"), make_tool("x.f")]), named("x.f"))
    assert [result.name for result in results(events)] == ["x.f"]


async def test_invalid_arguments_are_rejected_before_execution() -> None:
    """The schema is checked first; the error names the field (PS-20)."""
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    events = await execute(execution_of([make_tool("f", parameters=schema)]), named("f", n="3"), named("f"))
    assert codes(events) == [Code.INVALID_ARGUMENTS] * 2
    assert all("n" in str(getattr(result.result, "error", "")) for result in results(events))
    assert not any(isinstance(event, ToolExecuting) for event in events)


async def test_a_call_with_a_fault_shows_its_text() -> None:
    """Arguments that cannot be parsed are shown as they were sent, up to a limit."""
    fault = ToolOutcome.failed(Code.ARGUMENTS_CUT, "cut")
    [announced, result] = await execute(execution_of([make_tool("f")]), RepairedCall("f", {}, "c", fault, "{" * 5000))
    assert isinstance(announced, ToolCalls)
    assert announced.calls[0].arguments == "{" * 2000
    assert codes([announced, result]) == [Code.ARGUMENTS_CUT]


async def test_a_runner_that_raises_still_gives_a_result() -> None:
    """If the tool runner raises although it must not, the call gets an error result."""
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
    """Case, width, spaces and outer quotes do not make another search; the second result is marked cached (PS-17)."""
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
    """The same query with another time range is another search."""
    backend = FakeSearch()
    await execute(execution_of([search_web(backend, None)]), search("x"), search("x", **more), search("x", **more))
    assert len(backend.asked) == 2


async def test_a_search_under_way_is_awaited() -> None:
    """An equal search joins the running one: one executing event, two results at its end."""
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


async def test_a_failed_search_is_shared_but_not_cached() -> None:
    """Calls that wait for a failing search get its error; a later call sends the search again (PS-17)."""
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


async def test_other_tools_are_not_deduplicated() -> None:
    """Only tools with a search key are deduplicated."""
    ran: list[object] = []
    tool = make_tool("f", lambda arguments, context: ran.append(arguments))
    await execute(execution_of([tool]), named("f", a=1), named("f", a=1))
    assert len(ran) == 2


# --- clamp ---


def warnings(events: Sequence[AnyEvent]) -> list[Warning]:
    """Return the warnings among events."""
    return [event for event in events if isinstance(event, Warning)]


async def test_eight_searches_six_sent() -> None:
    """Six searches are sent, all eight calls are answered, and one warning is emitted (PS-18)."""
    backend = FakeSearch()
    events = await execute(execution_of([search_web(backend, None)]), *(search(f"q{n}") for n in range(8)))
    assert len(backend.asked) == 6
    assert codes(events) == [None] * 6 + [Code.TOOL_CLAMP] * 2
    assert [warning.code for warning in warnings(events)] == [Code.TOOL_CLAMP]


async def test_failed_searches_count_and_equal_ones_do_not() -> None:
    """A failed search counts, a reused one does not; the warning is emitted once over many steps."""
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
    """Search keys are compared only within one tool."""
    tools = [make_tool("books"), make_tool("films")]
    tools = [replace(tool, spec=replace(tool.spec, search_key=lambda _: "same")) for tool in tools]
    events = await execute(execution_of(tools), named("books"), named("films"), named("books"))
    assert [result.cached is True for result in results(events)] == [False, False, True]


async def test_no_searches_allowed() -> None:
    """With a limit of 0, no search is sent, and every call is answered."""
    backend = FakeSearch()
    events = await execute(execution_of([search_web(backend, None)], max_searches=0), search("a"), search("b"))
    assert codes(events) == [Code.TOOL_CLAMP] * 2
    assert len(warnings(events)) == 1
    assert not backend.asked


async def test_a_search_that_is_not_offered_gets_the_reason() -> None:
    """With `max_searches: 0` no search tool is offered; the result of a call says why."""
    execution = execution_of([search_web(FakeSearch(), None)], offered=[], max_searches=0)
    [result] = results(await execute(execution, search("a")))
    assert isinstance(result.result, Failure)
    assert (result.result.code, result.result.error) == (
        Code.TOOL_CLAMP,
        "No searches may be sent for this answer (max_searches is 0); answer without them.",
    )


async def test_invalid_searches_do_not_count() -> None:
    """A search that the schema or the tool rejects was never sent."""
    backend = FakeSearch()
    execution = execution_of([search_web(backend, None)], max_searches=1)
    for bad in (search("\n"), search("x", after="not a day"), search("x", num_results=99)):
        assert codes(await execute(execution, bad)) == [Code.INVALID_ARGUMENTS]
    assert codes(await execute(execution, search("x"))) == [None]
    assert len(backend.asked) == 1


async def test_only_searches_are_clamped() -> None:
    """Other tools are not counted and not clamped."""
    tools = [search_web(FakeSearch(), None), make_tool("f")]
    calls = [search("a"), *[named("f")] * 5]
    assert codes(await execute(execution_of(tools, max_searches=1), *calls)) == [None] * 6


# --- what may change something is on disk before it starts ---


class Disk:
    """A store whose flush blocks until the test lets it succeed or fail."""

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
    """Return an execution of one tool that records when it runs, over this store."""
    tool = make_tool("write", lambda arguments, context: ran.append("write"), eager=eager)
    execution = execution_of([tool])
    disk = Disk(execution.seen)
    execution.context.flush = disk.recorded
    return execution, disk


async def test_a_side_effecting_call_is_flushed_before_it_runs() -> None:
    """Its announcement is emitted, then flushed, then the tool runs: after a crash the model knows of the call."""
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


async def test_a_call_that_cannot_be_flushed_does_not_run() -> None:
    """If the store fails, the result says that the tool did not run, and the run continues."""
    ran: list[str] = []
    execution, disk = on_disk(ran)

    async def fails() -> None:
        (await disk.waits.get()).set_exception(StoreError(Code.STORE_UNAVAILABLE))

    failing = asyncio.create_task(fails())
    assert codes(await execute(execution, named("write"))) == [Code.STORE_UNAVAILABLE]
    assert ran == []
    await failing


async def test_a_read_only_call_does_not_wait_for_the_store() -> None:
    """It may be repeated after a crash, so it starts at once."""
    ran: list[str] = []
    execution, disk = on_disk(ran, eager=True)
    assert codes(await execute(execution, named("write"))) == [None]
    assert (ran, disk.waits.empty()) == (["write"], True)


async def test_a_call_withdrawn_during_the_flush_never_runs() -> None:
    """A stop during the flush gives the call its one result."""
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
    """Its task is cancelled, and its only result says why."""
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


async def test_a_withdrawn_call_that_waits_for_a_slot_never_executes() -> None:
    """It emits no executing event and never runs."""
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
    """The search continues for the other call, whichever of the two sent it."""
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
    """At the end of a run every open call is answered, and no task is left."""
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


async def test_a_tool_that_ignores_its_cancellation_does_not_delay_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing waits only briefly for such a tool."""
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


async def test_nothing_is_emitted_after_closing() -> None:
    """Neither a tool that ignores its cancellation nor a late result emits an event."""
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


async def test_waiting_covers_calls_announced_meanwhile() -> None:
    """Without open calls the wait returns at once; a call announced during the wait is included."""
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


async def test_messages_for_the_history() -> None:
    """Arguments are canonical and the outcome is text; a call without an outcome counts as failed (A8)."""
    execution = execution_of([make_tool("f", lambda arguments, context: {"x": 1})])
    await execute(execution, named("f", q="é"))
    [call] = execution.calls
    told, result = call.message()
    assert (told.id, told.upstream_id, told.arguments) == (call.id, "up_f", {"q": "é"})
    assert result.content == '{"x":1}'
    [open_] = execution.announce([named("f")], 1)
    assert "STEP_FAILED" in open_.message()[1].content
