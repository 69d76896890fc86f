"""Both loops do the same things in the same order around a retry, for streamed and whole replies."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.stepper import LoopInputs, Stepper
from signalbox.chat.loops.stop_reason import TurnEnd
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content, Done, Warning
from signalbox.core.parts import Fault, Request, StreamPart, TextDelta
from signalbox.core.ports import Destination, Emit, Loop, OnHead
from signalbox.core.tools import Tool
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, make_tool
from tests.support.loop_runs import Seen, context_for
from tests.support.loop_tools import eager, kinds

pytestmark = pytest.mark.anyio

STREAMED: list[Tool] = []  # without tools, both loops stream
WHOLE = [make_tool("f")]  # with tools, the legacy loop reads whole replies
EACH_LOOP = pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
EACH_FORM = pytest.mark.parametrize("tools", [STREAMED, WHOLE], ids=["streamed", "whole"])

# A failed first attempt: what the client does, and what follows the end of the attempt.
FAILURES: dict[str, tuple[list[object], list[str]]] = {
    "refused before the first byte": (
        [UpstreamError(Code.UPSTREAM_OVERLOADED)],
        ["attempt 1 ends UPSTREAM_OVERLOADED", "wait 0.5"],
    ),
    "refused with Retry-After": (
        [UpstreamError(Code.RATE_LIMIT, retry_after=3.0)],
        ["attempt 1 ends RATE_LIMIT", "wait 3.0"],
    ),
    "cut before the first delta": ([[SERVED]], ["attempt 1 ends STREAM_CUT", "wait 0.5"]),
    "an error frame": (
        [[SERVED], [Fault(UpstreamError(Code.UPSTREAM_ERROR))]],
        ["attempt 1 ends UPSTREAM_ERROR", "wait 0.5"],
    ),
    "degraded": (
        [UpstreamError(Code.UPSTREAM_CREDITS, affordable=1000)],
        ["attempt 1 ends UPSTREAM_CREDITS", "emit Warning CREDIT_CLAMP", "wait 0.0"],
    ),
}


class Log(list[str]):
    """What a loop does, in order: attempts, requests, events, waits."""

    def __init__(self) -> None:
        super().__init__()
        self.progress = Progress(clock=lambda: 0.0, on_change=self.note_attempt)
        self._begun = 0

    def note_attempt(self) -> None:
        attempt = self.progress.attempts[-1]
        if len(self.progress.attempts) > self._begun:
            self._begun += 1
            self.append(f"attempt {attempt.number} begins")
        elif attempt.ended is not None:
            self.append(f"attempt {attempt.number} ends {attempt.code}")

    def emit(self, events: list[AnyEvent]) -> None:
        for event in events:
            match event:
                case Content():
                    self.append(f"emit {event.content}")
                case Warning():
                    self.append(f"emit Warning {event.code}")
                case Done():
                    self.append(f"emit Done {event.status}")
                case _:
                    self.append(f"emit {type(event).__name__}")

    async def wait(self, seconds: float) -> None:
        self.append(f"wait {seconds}")


class LoggedClient(ScriptedClient):
    """A scripted client that logs its requests."""

    def __init__(self, log: Log, *scripts: list[object]) -> None:
        super().__init__(*scripts)
        self.log = log

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        self.log.append("request")
        await super().stream(request, emit, on_head)


class LoggedRoute(LoggedClient):
    """A route of the upstreams a and b that share one script."""

    current = Destination("a", "openai-chat", "openai/sim", "openai/sim")

    def skip_failing(self) -> list[str]:
        return []

    def release(self) -> None: ...

    def fall_back(self) -> bool:
        has_next = self.current.upstream == "a"
        self.current = replace(self.current, upstream="b")
        return has_next

    def record(self, error: UpstreamError | None) -> None:
        self.log.append(f"{self.current.upstream} {error.code if error else 'answered'}")


async def logged(
    new_loop: Callable[..., Loop], tools: list[Tool], *scripts: list[object], has_route: bool = False
) -> Log:
    """Drive one run and return its log."""
    log, context = Log(), context_for(tools)
    route = LoggedRoute(log, *scripts) if has_route else None
    client = route or LoggedClient(log, *scripts)
    if route is not None:
        context.use_destination(route.current)
    inputs = LoopInputs(context, client, ToolExecutor(tools), log.progress, sleep=log.wait, route=route)
    loop = new_loop(inputs)
    await drive(loop, context, log.progress, log.emit)
    return log


@EACH_LOOP
@EACH_FORM
@pytest.mark.parametrize("failure", FAILURES)
async def test_a_retry_takes_the_same_steps(new_loop: Callable[..., Loop], tools: list[Tool], failure: str) -> None:
    """Record the attempt, send, record the outcome, emit warnings, wait, begin the next attempt."""
    script, after = FAILURES[failure]
    log = await logged(new_loop, tools, script, [*answer("Hi.")])
    before = ["attempt 1 begins", "request", *after, "attempt 2 begins", "request"]
    assert log[: len(before)] == before
    # A streamed reply is emitted before its attempt ends, a whole one after it.
    assert sorted(log[len(before) :]) == ["attempt 2 ends None", "emit Done complete", "emit Hi."]
    assert log[-1] == "emit Done complete"


@EACH_LOOP
@EACH_FORM
async def test_a_fallback_takes_the_steps_of_a_retry(new_loop: Callable[..., Loop], tools: list[Tool]) -> None:
    """Record the outcome, emit the warning, and begin the next attempt without a wait, at the next upstream."""
    rejected: list[object] = [UpstreamError(Code.UPSTREAM_AUTH)]
    log = await logged(new_loop, tools, rejected, [*answer("Hi.")], has_route=True)
    before = [
        *("attempt 1 begins", "request", "attempt 1 ends UPSTREAM_AUTH", "a UPSTREAM_AUTH"),
        *("emit Warning UPSTREAM_FALLBACK", "wait 0.0", "attempt 2 begins", "request"),
    ]
    assert log[: len(before)] == before
    assert sorted(log[len(before) :]) == ["attempt 2 ends None", "b answered", "emit Done complete", "emit Hi."]


@EACH_LOOP
@EACH_FORM
async def test_the_last_upstream_ends_the_run(new_loop: Callable[..., Loop], tools: list[Tool]) -> None:
    """With its own error; the retries of each upstream come before its fallback."""
    refused: list[object] = [UpstreamError(Code.UPSTREAM_ERROR)]
    log = await logged(new_loop, tools, *([refused] * 6), has_route=True)
    assert [line for line in log if line.startswith(("wait", "emit"))] == [
        *("wait 0.5", "wait 1.0", "emit Warning UPSTREAM_FALLBACK", "wait 0.0", "wait 0.5", "wait 1.0"),
        *("emit Warning UPSTREAM_ERROR", "emit Done error"),
    ]


@EACH_LOOP
@EACH_FORM
async def test_attempts_end_the_same_way(new_loop: Callable[..., Loop], tools: list[Tool]) -> None:
    """After the third failure there is no wait; the run's ending follows the attempt's."""
    refused: list[object] = [UpstreamError(Code.UPSTREAM_ERROR)]
    assert await logged(new_loop, tools, refused, refused, refused) == [
        *("attempt 1 begins", "request", "attempt 1 ends UPSTREAM_ERROR", "wait 0.5"),
        *("attempt 2 begins", "request", "attempt 2 ends UPSTREAM_ERROR", "wait 1.0"),
        *("attempt 3 begins", "request", "attempt 3 ends UPSTREAM_ERROR"),
        *("emit Warning UPSTREAM_ERROR", "emit Done error"),
    ]


@EACH_LOOP
@EACH_FORM
async def test_a_rejected_request_is_not_retried(new_loop: Callable[..., Loop], tools: list[Tool]) -> None:
    """An invalid key ends the run with its first attempt."""
    assert await logged(new_loop, tools, [UpstreamError(Code.UPSTREAM_AUTH)]) == [
        *("attempt 1 begins", "request", "attempt 1 ends UPSTREAM_AUTH"),
        *("emit Warning UPSTREAM_AUTH", "emit Done error"),
    ]


@pytest.mark.parametrize(("new_loop", "tools"), [(V2Loop, STREAMED), (V2Loop, WHOLE), (LegacyLoop, STREAMED)])
async def test_a_streamed_reply_that_breaks_after_text_is_not_retried(
    new_loop: Callable[..., Loop], tools: list[Tool]
) -> None:
    """The text was emitted, and a retry would duplicate it."""
    assert await logged(new_loop, tools, [[SERVED], [TextDelta("So far")]]) == [
        *("attempt 1 begins", "request", "emit So far", "attempt 1 ends STREAM_CUT"),
        *("emit Warning STREAM_CUT", "emit Done interrupted"),
    ]


async def test_a_broken_whole_reply_is_emitted_only_if_no_retry_follows() -> None:
    """The legacy loop has emitted nothing yet, so it retries, and emits the text of the last attempt once."""
    broken: list[object] = [[SERVED], [TextDelta("So far")]]
    assert await logged(LegacyLoop, WHOLE, broken, broken, broken) == [
        *("attempt 1 begins", "request", "attempt 1 ends STREAM_CUT", "wait 0.5"),
        *("attempt 2 begins", "request", "attempt 2 ends STREAM_CUT", "wait 1.0"),
        *("attempt 3 begins", "request", "attempt 3 ends STREAM_CUT"),
        *("emit So far", "emit Warning STREAM_CUT", "emit Done interrupted"),
    ]


async def test_a_retry_without_tools_stays_whole_in_the_legacy_loop() -> None:
    """A step that began whole stays whole, so its reply is emitted after its attempt."""
    log = await logged(LegacyLoop, WHOLE, [UpstreamError(Code.UPSTREAM_NO_TOOLS)], [*answer("Hi.")])
    assert log[3:] == [
        *("emit Warning TOOLS_DROPPED", "wait 0.0"),
        *("attempt 2 begins", "request", "attempt 2 ends None", "emit Hi.", "emit Done complete"),
    ]


@EACH_LOOP
async def test_a_step_is_complete_before_its_tools_run(new_loop: type[V2Loop | LegacyLoop]) -> None:
    """`ask` returns the calls of the reply; only `act` announces and runs them."""
    tools, seen = [make_tool("f")], Seen()
    context, client = context_for(tools), ScriptedClient(calls(call(0, "f", "{}")), answer("Hi."))
    loop = new_loop(LoopInputs(context, client, ToolExecutor(tools), Progress()))
    async with Stepper(LoopInputs(context, client, ToolExecutor(tools), Progress()), seen.emit) as stepper:
        step = await stepper.ask(loop.begin_reply)
        assert (step.end, [raw.name for raw in step.completion.calls]) == (TurnEnd.CALLS, ["f"])
        assert "ToolCalls" not in kinds(seen)
        await stepper.act(step)
        assert kinds(seen)[-3:] == ["ToolCalls", "ToolExecuting", "ToolResult"]
        assert not stepper.is_over
        await stepper.act(await stepper.ask(loop.begin_reply))
        assert stepper.is_over


async def test_no_tool_outlives_the_stepper() -> None:
    """An eager tool that still runs when the block is left is cancelled."""
    started, stopped = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    tools = [eager("f", lambda arguments, context: work())]
    context, client = context_for(tools), ScriptedClient([[SERVED], [call(0, "f", "{}")], started.wait])
    loop = V2Loop(LoopInputs(context, client, ToolExecutor(tools), Progress()))
    with pytest.raises(UpstreamError):
        async with Stepper(LoopInputs(context, client, ToolExecutor(tools), Progress()), Seen().emit) as stepper:
            await stepper.ask(loop.begin_reply)
    assert stopped.is_set()
