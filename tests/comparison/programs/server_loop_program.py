"""The loop of Signalbox's server without the server: each run is a task, and its events go to a list."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from actions import Ask, main
from signalbox import Upstream, tool, user
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.chat.plan import schemas_of
from signalbox.core.events import AnyEvent, Content
from signalbox.services.tool_executor import ToolExecutor
from tools import MODEL, Case


@asynccontextmanager
async def opened(functions: Sequence[Any]) -> AsyncGenerator[Ask]:
    executor = ToolExecutor([tool(function) for function in functions])
    schemas = schemas_of(executor.offered)
    async with Upstream(Case.base_url).connected() as client:

        async def ask(question: str) -> str:
            events: list[AnyEvent] = []
            context = ConversationContext(uuid4().hex, MODEL, [user(question)], tool_schemas=schemas)
            progress = Progress()
            loop = V2Loop(LoopInputs(context, client, executor, progress))
            await asyncio.create_task(drive(loop, context, progress, events.extend))
            return "".join(event.content for event in events if isinstance(event, Content))

        yield ask


main({}, opened)
