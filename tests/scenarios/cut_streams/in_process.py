"""Runs both loops in this process over scripted bytes, and compares the events with the oracle."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.registry import LOOPS
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content, Done, Reasoning, ToolCalls, ToolExecuting, ToolResult
from signalbox.core.messages import AssistantMessage, JsonObject
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import EndOfStream, Request, StreamPart
from signalbox.core.ports import Emit
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor
from signalbox.wire.openrouter.decoder import parts_of_body
from signalbox.wire.openrouter.stream import ChatStreamDecoder

from tests.scenarios.cut_streams.oracle import ANSWER, Expected
from tests.scenarios.cut_streams.streams import NOTE, SEARCH, Stream, answer
from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for, driven, no_wait

CODES = {
    "complete": {None},
    "interrupted": {"STREAM_CUT", "UPSTREAM_STALLED"},
    "error": {"UPSTREAM_ERROR", "UPSTREAM_OVERLOADED"},
    "length": {"LENGTH"},
    "content_filter": {"CONTENT_FILTER"},
}


@dataclass
class Sent:
    """One answer as it arrives: its reads, then a clean end or, if `breaks`, a broken connection."""

    reads: list[bytes]
    breaks: bool = False


def whole(stream: Stream) -> Sent:
    """Return the complete answer."""
    return Sent(list(stream.frames))


@dataclass
class ByteClient:
    """A ChatClient over bytes: `first` answers the first request, `again` its retries, ANSWER what follows calls."""

    first: Sent
    again: Sent
    requests: list[Request] = field(default_factory=list[Request])

    def _next(self, *, streamed: bool) -> Sent:
        request = self.requests[-1]
        if any(isinstance(message, AssistantMessage) for message in request.messages):
            last = answer(ANSWER)
            return whole(last) if streamed else Sent([last.body])
        return self.first if len(self.requests) == 1 else self.again

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: object = None) -> None:
        self.requests.append(request)
        sent = self._next(streamed=True)
        decoder = ChatStreamDecoder()
        for read in sent.reads:
            parts = decoder.feed(read)
            if parts:
                emit(parts)
            await asyncio.sleep(0)  # as between two reads of a socket, so that called tools may start
            if parts and type(parts[-1]) is EndOfStream:
                return
        if parts := decoder.close():
            emit(parts)
        if sent.breaks:
            raise UpstreamError(Code.STREAM_CUT)

    async def complete(self, request: Request, on_head: object = None) -> list[StreamPart]:
        self.requests.append(request)
        sent = self._next(streamed=False)
        if sent.breaks:
            raise UpstreamError(Code.STREAM_CUT)
        try:
            return parts_of_body(b"".join(sent.reads))
        except ValueError:
            raise UpstreamError(Code.UPSTREAM_PROTOCOL) from None


@cache
def tools() -> tuple[Tool, ...]:
    """Return a read-only tool and one with a side effect."""
    words: JsonObject = {"type": "string"}
    note: JsonObject = {"type": "object", "properties": {"title": words, "text": words}, "required": ["title", "text"]}
    query: JsonObject = {"type": "object", "properties": {"query": words}, "required": ["query"]}

    def count(arguments: JsonObject, context: ToolContext) -> JsonObject:
        RAN.append(NOTE if "title" in arguments else SEARCH)
        return {"ok": True}

    return (
        make_tool(SEARCH, count, eager=True, parameters=query),
        make_tool(NOTE, count, parameters=note),
    )


RAN: list[str] = []  # the tools that the current run has executed
EXECUTOR = ToolExecutor(tools())


@dataclass
class Result:
    """The outcome of a run."""

    events: list[AnyEvent]
    requests: list[Request]
    ran: list[str]


async def run(loop: str, stream: Stream, client: ByteClient, *, offered: Sequence[Tool] | None = None) -> Result:
    """Drive one run to its end."""
    context = context_for(tools() if offered is None else offered, model=stream.model)
    progress = Progress(clock=lambda: 0.0)
    RAN.clear()
    running = LOOPS[loop](LoopInputs(context, client, EXECUTOR, progress, sleep=no_wait))  # type: ignore[index, call-arg]
    events = [event for batch in await driven(running, context, progress) for event in batch]
    return Result(events, client.requests, list(RAN))


def fault(result: Result, expected: Expected) -> str | None:
    """Return the first difference between a run and what is expected, or None."""
    if wrong := first_fault(result.events):
        return wrong
    done = result.events[-1]
    assert isinstance(done, Done)
    return _ending(done, expected) or _words(result.events, expected) or _doings(result, expected)


def _ending(done: Done, expected: Expected) -> str | None:
    code = done.code if isinstance(done.code, str) else None
    if done.status != expected.status or code not in CODES[expected.status]:
        return f"it ended {done.status} {code}, not {expected.status}"
    return None


def _words(events: list[AnyEvent], expected: Expected) -> str | None:
    """Check that no text is lost or repeated."""
    said = [event for event in events if isinstance(event, Content)]
    heard = {
        "text": "".join(event.content for event in said if event.refusal is not True),
        "refusal": "".join(event.content for event in said if event.refusal is True),
        "reasoning": "".join(event.content for event in events if isinstance(event, Reasoning)),
    }
    for name, value in heard.items():
        if value != getattr(expected, name):
            return f"its {name} is {value!r}, not {getattr(expected, name)!r}"
    return None


def _doings(result: Result, expected: Expected) -> str | None:
    low, high = expected.searches
    searches, notes = result.ran.count(SEARCH), result.ran.count(NOTE)
    if not low <= searches <= high or notes != expected.notes:
        return f"it ran {searches} searches and wrote {notes} notes, not {expected.searches} and {expected.notes}"
    executed = [event.id for event in result.events if isinstance(event, ToolExecuting)]
    announced = [call.id for event in result.events if isinstance(event, ToolCalls) for call in event.calls]
    answered = [event.id for event in result.events if isinstance(event, ToolResult)]
    if len(executed) != len(set(executed)) or sorted(announced) != sorted(answered):
        return f"announced {announced}, executed {executed}, answered {answered}"
    if len(result.requests) != expected.requests:
        return f"it asked {len(result.requests)} times, not {expected.requests}"
    return _signatures(result.requests[-1], expected)


def _signatures(last: Request, expected: Expected) -> str | None:
    """Check that signatures are sent back with their calls (quirks B1 and B3)."""
    sent = repr([m.reasoning_details for m in last.messages if isinstance(m, AssistantMessage)])
    lost = [signature for signature in expected.signatures if signature not in sent]
    return f"the signatures {lost} did not go back" if lost else None
