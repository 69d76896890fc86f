"""Runs the V2 loop in this process and checks the order of its events against the contract."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from signalbox.chat.context import ConversationContext, Limits, RunFlags
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.events import AnyEvent, Content, Done, Reasoning, ToolCalls, ToolExecuting, ToolResult, Warning
from signalbox.core.messages import JsonValue, Message, UserMessage
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import ToolSchema
from signalbox.core.ports import Emit, Loop
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import ScriptedClient
from tests.support.params import choice
from tests.support.params import params as params_as_sent

RUN_ID = "0123456789abcdef0123456789abcdef"


@dataclass
class Outcome:
    """A finished run."""

    events: list[AnyEvent]
    batches: list[list[AnyEvent]]
    context: ConversationContext
    progress: Progress

    @property
    def done(self) -> Done:
        last = self.events[-1]
        assert isinstance(last, Done)
        return last

    @property
    def text(self) -> str:
        return "".join(e.content for e in self.events if isinstance(e, Content))

    @property
    def reasoning(self) -> str:
        return "".join(e.content for e in self.events if isinstance(e, Reasoning))

    @property
    def warnings(self) -> list[str]:
        return [str(e.code) for e in self.events if isinstance(e, Warning)]

    @property
    def results(self) -> list[ToolResult]:
        return [e for e in self.events if isinstance(e, ToolResult)]

    @property
    def announced(self) -> list[str]:
        return [c.id for e in self.events if isinstance(e, ToolCalls) for c in e.calls]

    @property
    def executed(self) -> list[str]:
        return [e.id for e in self.events if isinstance(e, ToolExecuting)]

    def codes(self) -> list[str | None]:
        """Return the error code of each result; None for a success."""
        return [getattr(e.result, "code", None) for e in self.results]


def context_for(
    tools: Sequence[Tool] = (),
    *,
    model: str = "openai/sim",
    messages: list[Message] | None = None,
    tool_choice: JsonValue = None,
    params: dict[str, JsonValue] | None = None,
    limits: Limits | None = None,
    finalize_hint: str = "",
) -> ConversationContext:
    """Make a context that offers these tools."""
    schemas = tuple(ToolSchema(t.spec.name, t.spec.description, t.spec.parameters) for t in tools)
    return ConversationContext(
        run_id=RUN_ID,
        model=model,
        messages=messages if messages is not None else [UserMessage("What is the tool loop?")],
        base_params=params_as_sent(**(params or {})),
        tool_schemas=schemas,
        tool_choice=choice(tool_choice),
        finalize_hint=finalize_hint,
        limits=limits or Limits(),
        flags=RunFlags(simulated=True),
    )


class Seen(list[AnyEvent]):
    """Events as they are emitted; a test can wait for the first of a kind."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Event()

    @property
    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self]

    def emit(self, batch: Sequence[AnyEvent]) -> None:
        self.extend(batch)
        self._news.set()

    async def until(self, kind: str) -> None:
        while kind not in self.kinds:
            self._news.clear()
            await self._news.wait()


async def no_wait(seconds: float) -> None:
    """Return without sleeping."""


@dataclass(frozen=True)
class FunctionLoop:
    """A loop made from one function."""

    function: Callable[[Emit[list[AnyEvent]]], Awaitable[None]]

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        await self.function(emit)


async def driven(
    loop: Loop, context: ConversationContext, progress: Progress, emit: Emit[list[AnyEvent]] | None = None
) -> list[list[AnyEvent]]:
    """Drive a run to its end; return its batches.

    `emit` is called with each batch first, and may raise.
    """
    batches: list[list[AnyEvent]] = []

    def collect(batch: list[AnyEvent]) -> None:
        if emit is not None:
            emit(batch)
        batches.append(batch)

    await drive(loop, context, progress, collect)
    return batches


async def run(
    client: ScriptedClient,
    tools: Sequence[Tool] = (),
    *,
    context: ConversationContext | None = None,
    seen: "Seen | None" = None,
    sleep: Callable[[float], Awaitable[None]] = no_wait,
    **settings: object,
) -> Outcome:
    """Drive one run to its end and check the order of its events; `seen` receives each event as it is emitted."""
    context = context or context_for(tools, **settings)  # type: ignore[arg-type]
    progress = Progress(clock=lambda: 0.0)
    inputs = LoopInputs(context, client, ToolExecutor(tools), progress, ToolContext(run_id=context.run_id), sleep)
    loop = V2Loop(inputs)
    batches = await driven(loop, context, progress, None if seen is None else seen.emit)
    events = [event for batch in batches for event in batch]
    assert first_fault(events) is None, first_fault(events)
    return Outcome(events, batches, context, progress)
