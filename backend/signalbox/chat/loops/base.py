"""What both loops are: steps until one of them ends the run. They differ in how they read a reply."""

import asyncio
from abc import ABC, abstractmethod

from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stepper import Reply, Sleep, Stepper
from signalbox.core.events import AnyEvent
from signalbox.core.parts import Request
from signalbox.core.ports import ChatClient, Emit, ToolRunner
from signalbox.core.tools import ToolContext


class BaseLoop(ABC):
    """A `Loop` for one run. After it, `progress` holds the attempts and the ending."""

    def __init__(
        self,
        context: ConversationContext,
        client: ChatClient,
        tools: ToolRunner,
        progress: Progress,
        *,
        tool_context: ToolContext | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._context = context
        self._client = client
        self._tools = tools
        self._progress = progress
        self._tool_context = tool_context
        self._sleep = sleep

    async def run(self, emit: Emit[list[AnyEvent]]) -> None:
        """Take steps until one of them ends the run; raises UpstreamError, BudgetReached."""
        async with Stepper(
            self._context,
            self._client,
            self._tools,
            self._progress,
            emit,
            tool_context=self._tool_context,
            sleep=self._sleep,
        ) as stepper:
            while not stepper.is_over:
                await stepper.act(await stepper.ask(self.begin_reply))

    @abstractmethod
    def begin_reply(self, state: LoopState, request: Request, attempt: Attempt) -> Reply:
        """Prepare to read the reply to an attempt."""
