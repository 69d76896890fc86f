"""Executions of tool calls for tests: events are recorded, and tools block until the test releases them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from signalbox.chat.calls.execution import ToolExecution, execute_tool_calls
from signalbox.chat.calls.repair import RepairedCall
from signalbox.chat.context import Limits
from signalbox.core.events import AnyEvent, ToolCalls, ToolResult
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import make_tool
from tests.support.loop_runs import Seen, context_for


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
