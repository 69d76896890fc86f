"""Runs one case on one loop; nothing is stored."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from time import time

from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.registry import LOOPS
from signalbox.core.events import AnyEvent, LoopName, Stamped
from signalbox.core.parts import Request, StreamPart
from signalbox.core.ports import ChatClient, Emit, OnHead, ToolRunner
from signalbox.core.records import RunRecord
from signalbox.core.tools import ToolContext
from signalbox.encoders.check import first_stream_fault
from signalbox.encoders.sse_v1 import SseV1Encoder
from signalbox.replay.case import Case
from signalbox.replay.outcome import Outcome, outcome_of
from signalbox.runs.run import new_run_id

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Played:
    """The result of a case: its outcome, and its stream as a client would receive it."""

    outcome: Outcome
    stream: bytes


async def play(
    case: Case,
    loop: LoopName,
    client: ChatClient,
    tools: ToolRunner,
    *,
    sleep: Sleep = asyncio.sleep,
    now: Callable[[], datetime] | None = None,
) -> Played:
    """Run a case; `sleep` waits before a retry, `now` is the clock of the tools."""
    run_id = new_run_id()
    context, progress = case.context(run_id, loop), Progress()
    tool_context = ToolContext.for_conversation(run_id, context.messages)
    if now is not None:
        tool_context.now = now
    run = LOOPS[loop](context, client, tools, progress, tool_context=tool_context, sleep=sleep)
    events: list[Stamped] = []

    def record(batch: list[AnyEvent]) -> None:
        at, last = int(time() * 1000), len(events)
        events.extend(Stamped(seq, at, event) for seq, event in enumerate(batch, last + 1))

    await drive(run, context, progress, record)
    stream = SseV1Encoder(RunRecord(run_id, case.model, loop)).encode(events)
    outcome = outcome_of(events, progress.attempts, loop, case.model)
    return Played(_with_faults(outcome, stream, progress), stream)


def _with_faults(outcome: Outcome, stream: bytes, progress: Progress) -> Outcome:
    """Complete the outcome with the duration and the first fault of the stream."""
    fault = outcome.fault or first_stream_fault(stream)[0]
    ended = max((attempt.ended or 0 for attempt in progress.attempts), default=0)
    began = min((attempt.started for attempt in progress.attempts), default=ended)
    return replace(outcome, fault=fault, milliseconds=int((ended - began) * 1000))


class WholeFromStream:
    """A ChatClient that makes whole answers from streams, because a recording exists in one form only."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Stream as in a live run."""
        await self._client.stream(request, emit, on_head)

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return the parts of the whole stream."""
        whole: list[StreamPart] = []
        await self._client.stream(request, whole.extend, on_head)
        return whole
