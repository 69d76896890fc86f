"""Executors over one scripted tool."""

from collections.abc import Awaitable, Callable
from typing import Any

from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.services.tool_executor import ToolExecutor

NOTHING: JsonObject = {"type": "object", "properties": {}}
Run = Callable[[JsonObject, ToolContext], Awaitable[Any]]


def executor(run: Run, *, timeout: float = 5.0, limit: int = 24_000, schema: JsonObject = NOTHING) -> ToolExecutor:
    """Return an executor of one tool, called probe."""
    spec = ToolSpec("probe", "A probe.", schema, timeout=timeout)
    return ToolExecutor([Tool(spec, run)], result_limit=limit)


def returning(value: Any) -> Run:
    """Return a tool with this result."""

    async def run(arguments: JsonObject, context: ToolContext) -> Any:
        return value

    return run
