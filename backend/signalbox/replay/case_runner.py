"""Runs a case on one of the loops; nothing is stored."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from time import time

from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.registry import LOOPS
from signalbox.chat.loops.stepper import LoopInputs
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
class CaseResult:
    """The outcome of a run, and its stream as a client would receive it.

    `spent` is its cost in USD, reported or estimated; None if that is not possible, or if the case has no cost limit.
    """

    outcome: Outcome
    stream: bytes
    spent: float | None = None


async def run_case(
    case: Case,
    loop: LoopName,
    client: ChatClient,
    tools: ToolRunner,
    *,
    sleep: Sleep = asyncio.sleep,
    now: Callable[[], datetime] | None = None,
) -> CaseResult:
    """Run a case; `sleep` waits before retries, `now` is the clock of the tools."""
    run_id = new_run_id()
    context, progress = case.context(run_id, loop), Progress()
    tool_context = ToolContext.for_conversation(run_id, context.messages)
    if now is not None:
        tool_context.now = now
    run = LOOPS[loop](LoopInputs(context, client, tools, progress, tool_context=tool_context, sleep=sleep))
    events: list[Stamped] = []

    def record(batch: list[AnyEvent]) -> None:
        at, last = int(time() * 1000), len(events)
        events.extend(Stamped(seq, at, event) for seq, event in enumerate(batch, last + 1))

    await drive(run, context, progress, record)
    stream = SseV1Encoder(RunRecord(run_id, case.model, loop)).encode(events)
    outcome = outcome_of(events, progress.attempts, loop, case.model)
    spent = context.budget.estimated(progress) if context.budget else None
    return CaseResult(_completed(outcome, stream, progress), stream, spent)


def _completed(outcome: Outcome, stream: bytes, progress: Progress) -> Outcome:
    """Add the first fault of the encoded stream, and the duration of the upstream requests."""
    fault = outcome.fault or first_stream_fault(stream)[0]
    ended = max((attempt.ended or 0 for attempt in progress.attempts), default=0)
    began = min((attempt.started for attempt in progress.attempts), default=ended)
    return replace(outcome, fault=fault, milliseconds=int((ended - began) * 1000))


class WholeFromStream:
    """A ChatClient that streams every answer, also for `complete`: a recording has only one of the two forms."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Stream the answer."""
        await self._client.stream(request, emit, on_head)

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return all parts of the streamed answer."""
        parts: list[StreamPart] = []
        await self._client.stream(request, parts.extend, on_head)
        return parts
