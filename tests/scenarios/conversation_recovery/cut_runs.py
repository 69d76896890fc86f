"""Runs that can be cut anywhere: model output, simulated or recorded, and its replay to a loop."""

import asyncio
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import httpx
from signalbox.chat.context import ConversationContext, Limits
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, LoopName
from signalbox.core.messages import JsonObject, Message, UserMessage
from signalbox.core.order.invariants import first_fault
from signalbox.core.parts import Details, Finish, Request, StreamPart
from signalbox.core.ports import Emit
from signalbox.core.tools import Tool
from signalbox.decode import stream_parts
from signalbox.services.http.client import HttpClient
from signalbox.services.tool_executor import ToolExecutor
from signalbox.services.upstream import UpstreamClient
from signalbox.simulator.http.app import create_simulator
from signalbox.tools.calculate import calculate
from signalbox.wire.dialects import DIALECTS, upstream_at

from tests.conftest import recordings_folder
from tests.scenarios.recordings.recorded import Recorded, chains, load
from tests.support.fakes import make_tool
from tests.support.loop_runs import context_for, no_wait

FAMILIES = ("openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen")
QUESTION = "What is 17 * 23, what time is it in Tokyo, and how do tool calls stream?"
BEHAVIOURS = (
    "sim", "sim-parallel", "sim-searches-3", "sim-steps-2", "sim-same-id", "sim-bad-args", "sim-unknown-tool",
    "sim-length-tool", "sim-stubborn", "sim-silent-finalize", "sim-late-stop", "sim-length", "sim-filter",
)  # fmt: skip
How = Literal["whole", "cut", "stalled", "crashed", "stopped", "lost"]
HOWS: tuple[How, ...] = ("whole", "cut", "stalled", "crashed", "stopped", "lost")
Answer = list[StreamPart]


@dataclass(frozen=True)
class ScriptedRun:
    """The output of a model in one run, by request and part."""

    name: str
    model: str
    loop: LoopName
    answers: tuple[Answer, ...] = field(repr=False)
    tools: tuple[Tool, ...] = field(repr=False)
    steps: int = 4


@dataclass(frozen=True)
class Cut:
    """Where a run ends: at this part of the answer to this request; `lost` cuts only the client's connection."""

    how: How = "whole"
    request: int = 0
    part: int = 0


@dataclass
class RunResult:
    """A finished run: the events that its client received, and the context that it left."""

    context: ConversationContext
    events: list[AnyEvent] = field(default_factory=list[AnyEvent])

    @property
    def added(self) -> list[Message]:
        return self.context.messages[self.context.loop_start :]


FOUND: JsonObject = {"results": [{"n": 1, "title": "T", "url": "https://example.org/1", "snippet": "words " * 90}]}


@cache
def tools() -> tuple[Tool, ...]:
    """Return the tools of a simulated run: one with long results, one that waits for its step's end, one of the app."""
    search = make_tool("search_web", lambda a, c: FOUND, eager=True, parameters=_taking("query"))
    return (search, make_tool("get_current_time", parameters=_taking("timezone")), calculate())


def _taking(name: str) -> JsonObject:
    return {"type": "object", "properties": {name: {"type": "string"}}}


# --- what models say ---


class RecordingClient:
    """A ChatClient over the simulator in this process that records the output."""

    def __init__(self) -> None:
        transport = httpx.ASGITransport(create_simulator(pace=0.0))
        self._http = HttpClient(transport=transport)
        self._service = UpstreamClient(self._http, upstream_at("http://simulator/api/v1"))
        self.answers: list[Answer] = []

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: object = None) -> None:
        said: Answer = []
        self.answers.append(said)

        def record(parts: list[StreamPart]) -> None:
            said.extend(parts)
            emit(parts)

        await self._service.stream(request, record)

    async def complete(self, request: Request, on_head: object = None) -> list[StreamPart]:
        self.answers.append(await self._service.complete(request))
        return self.answers[-1]


@cache
def simulated(model: str, loop: LoopName) -> ScriptedRun:
    """Run a simulated model and record its output."""
    recorder = RecordingClient()
    context = context_for(
        tools(),
        model=model,
        messages=[UserMessage(QUESTION)],
        params={"reasoning": {"effort": "medium"}},
        limits=Limits(max_steps=3),
    )
    asyncio.run(_drive(context, loop, recorder, RunResult(context)))
    assert recorder.answers
    return ScriptedRun(model, model, loop, tuple(recorder.answers), tools(), steps=3)


@cache
def recorded() -> tuple[ScriptedRun, ...]:
    """Return every recorded run with a tool call, for both loops."""
    every = load(recordings_folder())
    in_chains = [steps for steps in chains(every).values() if any(step.calls for step in steps)]
    alone = [[one] for one in every if one.calls and not one.facts.get("chain")]
    streams = [steps for steps in [*in_chains, *alone] if all(step.file.suffix == ".sse" for step in steps)]
    return tuple(_scripted_run(steps, loop) for steps in streams for loop in ("v2", "legacy"))


def _scripted_run(steps: list[Recorded], loop: LoopName) -> ScriptedRun:
    names = sorted({call["name"] for step in steps for call in step.calls if call["name"]})
    made = tuple(make_tool(name, eager=bool(at % 2)) for at, name in enumerate(names))
    answers = tuple(list(stream_parts([step.body], DIALECTS["openrouter-chat"])) for step in steps)
    return ScriptedRun(steps[0].stem, str(steps[0].facts["model"]), loop, answers, made, steps=len(steps) + 1)


# --- what becomes of it ---


@dataclass
class ReplayClient:
    """A ChatClient that replays recorded output up to the cut; later requests end the same way."""

    scripted_run: ScriptedRun
    cut: Cut
    asked: int = -1
    task: "asyncio.Task[None] | None" = None

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: object = None) -> None:
        self.asked += 1
        answer = self.scripted_run.answers[min(self.asked, len(self.scripted_run.answers) - 1)]
        is_cut = self.cut.how not in ("whole", "lost") and self.asked >= self.cut.request
        for part in answer[: self.cut.part] if is_cut else answer:
            emit([part])
            await asyncio.sleep(0)
        if is_cut:
            if signed := _signatures(answer, self.cut.part):
                emit(signed)
            await self._end()

    async def complete(self, request: Request, on_head: object = None) -> list[StreamPart]:
        whole: Answer = []
        await self.stream(request, whole.extend)
        return whole

    async def _end(self) -> None:
        match self.cut.how:
            case "cut":
                raise UpstreamError(Code.STREAM_CUT)
            case "stalled":
                raise UpstreamError(Code.UPSTREAM_STALLED)
            case "crashed":
                raise RuntimeError("broken on purpose")
            case _:
                assert self.task is not None
                self.task.cancel()
                await asyncio.sleep(60)


def _signatures(answer: Answer, cut: int) -> list[StreamPart]:
    """Return the details that the service still emits if a connection breaks after the finish (quirk B1)."""
    has_finished = any(isinstance(part, Finish) for part in answer[:cut])
    return [part for part in answer[cut:] if isinstance(part, Details)] if has_finished else []


def replay(scripted_run: ScriptedRun, cut: Cut, messages: list[Message]) -> RunResult:
    """Replay a run up to the cut, after these messages."""
    context = context_for(
        scripted_run.tools, model=scripted_run.model, messages=[*messages], limits=Limits(max_steps=scripted_run.steps)
    )
    finished = RunResult(context)
    asyncio.run(_drive(context, scripted_run.loop, ReplayClient(scripted_run, cut), finished))
    assert first_fault(finished.events) is None, first_fault(finished.events)
    if cut.how == "lost":  # its client received only these events
        del finished.events[cut.request + cut.part :]
    return finished


async def _drive(
    context: ConversationContext, loop: LoopName, client: ReplayClient | RecordingClient, finished: RunResult
) -> None:
    if isinstance(client, ReplayClient):
        client.task = asyncio.current_task()
    progress = Progress(clock=lambda: 0.0)
    start = V2Loop if loop == "v2" else LegacyLoop
    running = start(LoopInputs(context, client, ToolExecutor(_tools_of(client)), progress, sleep=no_wait))
    await drive(running, context, progress, finished.events.extend)


def _tools_of(client: ReplayClient | RecordingClient) -> tuple[Tool, ...]:
    return client.scripted_run.tools if isinstance(client, ReplayClient) else tools()
