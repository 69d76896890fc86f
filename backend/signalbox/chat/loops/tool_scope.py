"""What both loops need for one run, set up before its first step and cleared away whatever happens."""

from asyncio import Semaphore
from collections.abc import Awaitable, Callable

from signalbox.chat.calls.execution import ToolExecution
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.state import LoopState
from signalbox.core.events import AnyEvent
from signalbox.core.ports import Emit, Play, ToolRunner
from signalbox.core.tools import ToolContext


def staged(
    play: Callable[[LoopState, Emit[list[AnyEvent]]], Awaitable[None]],
    context: ConversationContext,
    tools: ToolRunner,
    progress: Progress,
    tool_context: ToolContext | None,
) -> Play:
    """Return a loop ready to be played; no tool outlives it."""
    known = tool_context or ToolContext.for_conversation(context.run_id, context.messages)
    known.sources.go_on_from(context.cited)

    async def played(emit: Emit[list[AnyEvent]]) -> None:
        execution = ToolExecution(context, tools, known, emit, Semaphore(context.limits.tools_at_once))
        try:
            await play(LoopState(context, execution, progress), emit)
        finally:
            await execution.aclose()

    return played
