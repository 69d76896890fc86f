"""The loops by name."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Protocol

from signalbox.chat.context import ConversationContext
from signalbox.chat.loop_legacy import run_legacy
from signalbox.chat.loop_v2 import run_v2
from signalbox.chat.progress import Progress
from signalbox.core.events import AnyEvent, LoopName
from signalbox.core.ports import ChatClient, ToolRunner
from signalbox.core.tools import ToolContext


class Loop(Protocol):
    """A function that turns a conversation into events."""

    def __call__(
        self,
        context: ConversationContext,
        client: ChatClient,
        tools: ToolRunner,
        progress: Progress,
        *,
        tool_context: ToolContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> AsyncGenerator[list[AnyEvent], None]:
        """Drive one run."""
        ...


LOOPS: dict[LoopName, Loop] = {"v2": run_v2, "legacy": run_legacy}
