"""Executes the calls of a run: announces them, runs them concurrently, and emits one result each."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType, field, structs

from signalbox.chat.calls.ids import make_call_id
from signalbox.chat.calls.repair import RepairedCall
from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.context import ConversationContext
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import StoreError
from signalbox.core.events import (
    AnyEvent,
    Failure,
    Success,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.messages import JsonValue
from signalbox.core.ports import Emit, ToolRunner
from signalbox.core.tools import ToolContext, ToolOutcome

Result = TypeVar("Result")

# A tool that suppresses its cancellation must not delay the run's end.
_STOP_SECONDS = 0.5


class ToolExecution(Struct, eq=False):
    """All calls of one run. Emits their events as they happen, until it is closed. `slots` limits concurrent tools.

    `called` collects the names of the called tools, each once.
    """

    context: ConversationContext
    tools: ToolRunner
    tool_context: ToolContext
    emit: Emit[list[AnyEvent]]
    slots: asyncio.Semaphore
    called: list[str] = []
    calls: list[RunningCall] = []
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _is_closed: bool = False
    _searches: dict[str, asyncio.Task[ToolOutcome]] = {}
    _reserved: int = 0
    _sent: int = 0
    _open: int = 0
    _clamped: bool = False

    # --- announce -------------------------------------------------------------------------------------------

    def announce(self, calls: Sequence[RepairedCall], step: int) -> list[RunningCall]:
        """Announce calls, under ids of Signalbox; each of them then gets exactly one result, or is handed over."""
        names = self.context.tool_names
        announced = [self._new(call, step, names) for call in calls]
        if announced:
            self._emit_one(ToolCalls([call.announced() for call in announced], step))
        return announced

    @property
    def used_files(self) -> bool:
        """Whether the run has called tools that work on the files of its conversation."""
        return any(call.spec is not None and call.spec.needs_workspace for call in self.calls)

    def reserve_id(self) -> str:
        """Make the id of the run's next call."""
        self._reserved += 1
        return make_call_id(self.context.run_id, self._reserved - 1)

    def identified(self, call: RunningCall | RepairedCall) -> RunningCall | RepairedCall:
        """Return the call with the id under which it will be announced."""
        return structs.replace(call, id=self.reserve_id()) if call.id is None else call

    def _new(self, call: RepairedCall, step: int, names: frozenset[str]) -> RunningCall:
        known = without_namespace(call.name, names)
        is_ours = known in names and known not in self.context.client_tools
        spec = self.tools.spec(known) if is_ours else None
        running = RunningCall(
            id=call.id or self.reserve_id(),
            name=known,
            arguments=call.arguments,
            step=step,
            spec=spec,
            upstream_id=call.upstream_id,
            fault=call.fault,
            raw=call.raw,
            previewed=call.previewed,
        )
        if spec is not None:
            running.category, running.visibility = spec.category, spec.visibility
        self.calls.append(running)
        if known in names and known not in self.called:
            self.called.append(known)
        self._open += 1
        return running

    # --- execute --------------------------------------------------------------------------------------------

    def start_all(self, calls: Sequence[RunningCall | RepairedCall], step: int) -> list[RunningCall]:
        """Announce and start the calls that are not running yet; return all calls in the same order."""
        announced = self.announce([call for call in calls if isinstance(call, RepairedCall)], step)
        for call in announced:
            self.start(call)
        following = iter(announced)
        return [next(following) if isinstance(call, RepairedCall) else call for call in calls]

    def start(self, call: RunningCall, *, is_checked: bool = False) -> None:
        """Run a call, hand it over, or give it an error result. `is_checked`: its arguments are valid."""
        outcome = self._rejection(call) or call.fault
        if outcome is None and call.name in self.context.client_tools:
            call.is_handed = True
            self._settle_one()
            return
        if outcome is None and not is_checked:
            outcome = self.tools.check(call.name, call.arguments)
        if outcome is not None:
            self.answer(call, outcome)
            return
        assert call.spec is not None  # _rejection has answered every call without one
        if call.spec.search_key is None:
            call.task = self._spawn(call, self._run(call))
        else:
            # The name is included because two search tools may make the same key.
            self._start_search(call, f"{call.name}\x1f{call.spec.search_key(call.arguments)}")

    def _spawn(self, call: RunningCall, work: Coroutine[None, None, Result]) -> asyncio.Task[Result]:
        """Start the task of a call; if the task fails, the call gets an error result."""
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda _: self._answer_broken(call))
        return task

    def _answer_broken(self, call: RunningCall) -> None:
        if call.outcome is None:
            code = Code.CANCELLED if self._is_closed else Code.TOOL_FAILED
            self.answer(call, ToolOutcome.failed(code, CODES[code].sentence))

    def _rejection(self, call: RunningCall) -> ToolOutcome | None:
        """Return the error for a tool that is not offered; it lists those that are (quirk A14)."""
        if call.spec is not None or call.name in self.context.client_tools:
            return None
        known = self.tools.spec(call.name)
        if known is not None and known.search_key is not None and not self.context.limits.max_searches:
            words = "No searches may be sent for this answer (max_searches is 0); answer without them."
            return ToolOutcome.failed(Code.TOOL_CLAMP, words)
        names = ", ".join(sorted(self.context.tool_names)) or "none"
        return ToolOutcome.failed(Code.UNKNOWN_TOOL, f"There is no tool {call.name!r}. The tools are: {names}.")

    async def _run(self, call: RunningCall) -> None:
        async with self.slots:
            self._emit_executing(call)
            outcome = await self._write_ahead(call)
            outcome = outcome or await self._run_tool(call)
        call.is_new = outcome.code is not Code.INVALID_ARGUMENTS
        self.answer(call, outcome)

    async def _run_tool(self, call: RunningCall) -> ToolOutcome:
        context = structs.replace(
            self.tool_context, call_id=call.id, trace_headers=self.context.observer.tool_began(call)
        )
        return await self.tools.run(call.name, call.arguments, context)

    def _start_search(self, call: RunningCall, key: str) -> None:
        """Reuse an equal search of this run, finished or running; otherwise send it, within the limit."""
        known = self._searches.get(key)
        if known is not None:
            call.task = self._spawn(call, self._reuse(call, known))
            return
        if self._sent >= self.context.limits.max_searches:
            self._clamp(call)
            return
        self._sent += 1
        call.is_new = True
        # The task does not belong to the call: if the call is superseded, an equal call may await this search.
        self._searches[key] = self._spawn(call, self._search(call, key))

    async def _write_ahead(self, call: RunningCall) -> ToolOutcome | None:
        """Flush the announcement of a side-effecting call before it runs; return the error if that fails.

        After a crash the model must see the call in its history, or it would repeat it.
        """
        if call.spec is None or not call.spec.has_side_effects:
            return None
        try:
            await self.context.flush()
        except StoreError as error:
            return ToolOutcome.failed(error.code, "The call was not run, because it could not be recorded.")
        return None

    async def _search(self, call: RunningCall, key: str) -> ToolOutcome:
        async with self.slots:
            self._emit_executing(call)
            outcome = await self._run_tool(call)
        if not outcome.success:
            del self._searches[key]  # failures are not cached: the model may try again
        if outcome.code is Code.INVALID_ARGUMENTS:  # the tool rejected it before a search was sent
            self._sent -= 1
            call.is_new = False
        self.answer(call, outcome)
        return outcome

    async def _reuse(self, call: RunningCall, search: asyncio.Task[ToolOutcome]) -> None:
        outcome = await asyncio.shield(search)
        self.answer(call, outcome, cached=outcome.success)

    def _clamp(self, call: RunningCall) -> None:
        limit = self.context.limits.max_searches
        if not self._clamped:
            self._clamped = True
            self._emit_one(Warning(f"An answer may use at most {limit} searches.", Code.TOOL_CLAMP, call.step))
        words = f"The limit of {limit} searches for this answer is reached; answer from what you have found."
        self.answer(call, ToolOutcome.failed(Code.TOOL_CLAMP, words))

    def _emit_executing(self, call: RunningCall) -> None:
        if call.outcome is None:
            self._emit_one(ToolExecuting(call.id, call.name, call.category, call.visibility, call.step))

    # --- answer ---------------------------------------------------------------------------------------------

    def answer(self, call: RunningCall, outcome: ToolOutcome, *, cached: bool = False) -> None:
        """Emit the result of a call; a second result is dropped."""
        if call.outcome is not None:
            return
        artifact = self._artifact_of(outcome)
        call.outcome = outcome
        call.cached = cached
        self._settle_one()
        self.context.observer.tool_ended(call)
        result = _result_of(outcome)
        was = True if cached else UNSET
        self._emit_one(ToolResult(call.id, call.name, result, call.category, call.visibility, was, call.step, artifact))

    def _artifact_of(self, outcome: ToolOutcome) -> JsonValue | UnsetType:
        """Return the artifact of an outcome, once: equal searches share an outcome, and surface ids are unique."""
        if outcome.artifact is None or any(call.outcome is outcome for call in self.calls):
            return UNSET
        return outcome.artifact

    def _settle_one(self) -> None:
        self._open -= 1
        if not self._open:
            self._settled.set()

    def withdraw(self, call: RunningCall, code: Code) -> None:
        """Give a call an error result and cancel its task; a search continues."""
        self.refuse(call, ToolOutcome.failed(code, CODES[code].sentence))

    def refuse(self, call: RunningCall, outcome: ToolOutcome) -> None:
        """Give a call without a result this one, and cancel its task; a search continues."""
        if call.outcome is None:
            self.answer(call, outcome)
            if call.task is not None:
                call.task.cancel()

    def close_open(self, code: Code) -> None:
        """Give every call without a result an error result."""
        for call in self.calls:
            self.withdraw(call, code)

    # --- the end --------------------------------------------------------------------------------------------

    async def wait_for_results(self) -> None:
        """Wait until every announced call has its result, or is handed over."""
        while self._open:
            self._settled.clear()
            await self._settled.wait()

    def _emit_one(self, event: AnyEvent) -> None:
        if not self._is_closed:  # the run's ending answers calls that are still open
            self.emit([event])

    async def aclose(self) -> None:
        """Cancel all tasks and emit nothing more; no task outlives its run."""
        self._is_closed = True
        if not self.calls:
            return
        tasks: list[asyncio.Task[None] | asyncio.Task[ToolOutcome]] = [c.task for c in self.calls if c.task is not None]
        tasks += self._searches.values()
        working = [task for task in tasks if not task.done()]
        for task in working:
            task.cancel()
        if working:
            await asyncio.wait(working, timeout=_STOP_SECONDS)


async def execute_tool_calls(
    execution: ToolExecution, calls: Sequence[RunningCall | RepairedCall], step: int
) -> list[RunningCall]:
    """Announce the calls of a step, run ours concurrently, and return all when each of ours has its result."""
    running = execution.start_all(calls, step)
    await execution.wait_for_results()
    return running


def _result_of(outcome: ToolOutcome) -> Success | Failure:
    if outcome.success:
        return Success(True, outcome.result)
    return Failure(False, outcome.error, str(outcome.code))


def without_namespace(name: str, offered: frozenset[str]) -> str:
    """Strip a namespace before a tool's name, which models add (`functions.`, `default_api.`): quirk A14."""
    tail = name.rpartition(".")[2]
    return tail if name not in offered and tail in offered else name
