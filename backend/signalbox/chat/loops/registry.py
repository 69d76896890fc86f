"""The loops by name."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.legacy import run_legacy
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.v2 import run_v2
from signalbox.core.events import LoopName
from signalbox.core.ports import ChatClient, Play, ToolRunner
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
    ) -> Play:
        """Return one run, ready to be played."""
        ...


LOOPS: dict[LoopName, Loop] = {"v2": run_v2, "legacy": run_legacy}
