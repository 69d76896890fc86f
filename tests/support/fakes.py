"""Scripted replacements for what a test cannot have for real: a model and tools."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import (
    CallDelta,
    EndOfStream,
    ReasoningDelta,
    Request,
    Served,
    StreamPart,
    TextDelta,
    Usage,
    UsageReport,
)
from signalbox.core.ports import ChatClient, Emit, OnHead
from signalbox.core.tools import SearchHit, SearchQuery, Tool, ToolContext, ToolSpec
from signalbox.wire.finish_reasons import finish_of


class ScriptedClient:
    """A ChatClient that answers each request with the next script: one list of parts per network read.

    An exception in a script is raised there; an awaitable factory is awaited there. `requests` are the received
    requests, `closed` counts streams that ended or were closed.
    """

    def __init__(self, *scripts: Sequence[object]) -> None:
        self.scripts = [list(script) for script in scripts]
        self.requests: list[Request] = []
        self.closed = 0

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        self.requests.append(request)
        assert self.scripts, f"request {len(self.requests)} was not expected"
        script = self.scripts.pop(0)
        try:
            for read in script:
                if isinstance(read, Exception):
                    raise read
                if callable(read):
                    await cast(Callable[[], Awaitable[None]], read)()
                    continue
                emit(cast(list[StreamPart], read))
                await asyncio.sleep(0)  # the next read comes in another turn of the event loop, as from a socket
        finally:
            self.closed += 1

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        parts: list[StreamPart] = []
        await self.stream(request, parts.extend)
        return parts


async def collect_reads(client: ChatClient, request: Request, on_head: OnHead | None = None) -> list[list[StreamPart]]:
    """Read a stream to its end; return the parts of each network read."""
    reads: list[list[StreamPart]] = []
    await client.stream(request, reads.append, on_head)
    return reads


SERVED = Served("gen-1", "openai/sim", "OpenAI")


def answer(*texts: str, cost: float = 0.001) -> list[list[StreamPart]]:
    """Script an answer of text."""
    return [[SERVED], *[[TextDelta(text)] for text in texts], ending("stop", cost=cost)]


def ending(reason: str | None = "stop", *, native: str | None = None, cost: float = 0.001) -> list[StreamPart]:
    """Script the last read of a stream."""
    usage = Usage(input=10, output=5, cost=cost)
    return [finish_of(reason, native), UsageReport(usage, {"prompt_tokens": 10, "completion_tokens": 5}), EndOfStream()]


def call(index: int, name: str, arguments: str, call_id: str | None = None) -> CallDelta:
    """Script a complete call."""
    return CallDelta(index=index, id=call_id or f"call_{index}", name=name, arguments=arguments)


def calls(*deltas: CallDelta, reason: str = "tool_calls") -> list[list[StreamPart]]:
    """Script a step with calls."""
    return [[SERVED], [ReasoningDelta("I need a tool.", "reasoning")], list(deltas), ending(reason)]


@dataclass
class FakeSearch:
    """A search backend that returns one hit per query, can fail on request, and records its queries."""

    name: str = "fake"
    about: str = "nothing real"
    paid: bool = False
    asked: list[SearchQuery] = field(default_factory=list)
    fail: Callable[[SearchQuery], Exception | None] = lambda query: None
    gate: asyncio.Event | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def search(self, query: SearchQuery) -> list[SearchHit]:
        self.asked.append(query)
        self.arrived.set()
        if self.gate is not None:
            await self.gate.wait()
        if error := self.fail(query):
            raise error
        slug = "-".join(query.text.lower().split())
        return [SearchHit(f"About {query.text}", f"https://example.org/{slug}", f"All about {query.text}.")]


def make_tool(
    name: str,
    run: Callable[[JsonObject, ToolContext], object] | None = None,
    *,
    eager: bool = False,
    parameters: JsonObject | None = None,
    timeout: float = 5.0,
) -> Tool:
    """Make a tool; without a function it returns its arguments."""

    async def work(arguments: JsonObject, context: ToolContext) -> JsonValue:
        result = run(arguments, context) if run else {"echo": arguments}
        return await result if asyncio.iscoroutine(result) else result  # type: ignore[return-value]

    spec = ToolSpec(
        name=name,
        description=f"The {name} tool of a test.",
        parameters=parameters or {"type": "object", "properties": {}, "additionalProperties": True},
        eager=eager,
        timeout=timeout,
    )
    return Tool(spec, work)
