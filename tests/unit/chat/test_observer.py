"""Observers of a run see each attempt, retry and tool call once, and their headers reach the requests."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.loops.driver import drive
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.chat.observer import IGNORE, RunObserver, combined
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent
from signalbox.core.messages import JsonObject
from signalbox.core.ports import Loop
from signalbox.core.tools import Tool, ToolContext
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, make_tool
from tests.support.loop_runs import context_for, no_wait

pytestmark = pytest.mark.anyio

EACH_LOOP = pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])


class Log(RunObserver):
    """Records what it observes, and names itself in the headers."""

    def __init__(self, name: str = "a") -> None:
        self.seen: list[str] = []
        self.name = name

    def attempt_began(self, attempt: Attempt) -> Mapping[str, str]:
        self.seen.append(f"attempt {attempt.step}.{attempt.number}")
        return {"traceparent": f"{self.name}-{attempt.step}.{attempt.number}"}

    def attempt_ended(self, attempt: Attempt) -> None:
        assert attempt.ended is not None
        self.seen.append(f"ended {attempt.code or 'ok'}")

    def retry_planned(self, error: UpstreamError, wait: float, warnings: Sequence[AnyEvent]) -> None:
        self.seen.append(f"retry {error.code} after {wait}")

    def tool_began(self, call: RunningCall) -> Mapping[str, str]:
        self.seen.append(f"tool {call.name}")
        return {"traceparent": f"{self.name}-{call.id}"}

    def tool_ended(self, call: RunningCall) -> None:
        assert call.outcome is not None
        self.seen.append(f"result {call.name} {call.outcome.code or 'ok'}")


async def run(new_loop: type[V2Loop] | type[LegacyLoop], client: ScriptedClient, tools: list[Tool], *logs: Log) -> None:
    """Drive one run with observers."""
    context = context_for(tools)
    context.observer = combined(logs)
    loop: Loop = new_loop(LoopInputs(context, client, ToolExecutor(tools), Progress(clock=lambda: 0.0), sleep=no_wait))
    await drive(loop, context, Progress(clock=lambda: 0.0), list[list[AnyEvent]]().append)


@EACH_LOOP
async def test_attempts_retries_and_calls_are_observed_in_order(new_loop: type[V2Loop] | type[LegacyLoop]) -> None:
    """A call that is rejected only ends."""
    given: list[Mapping[str, str]] = []

    def keep(arguments: JsonObject, context: ToolContext) -> object:
        given.append(context.trace_headers)
        return "done"

    client = ScriptedClient(
        [UpstreamError(Code.UPSTREAM_OVERLOADED)],
        calls(call(0, "f", "{}"), call(1, "unknown", "{}", "call_2")),
        answer("Hello."),
    )
    log = Log()
    await run(new_loop, client, [make_tool("f", keep)], log)
    assert log.seen == [
        *("attempt 1.1", "ended UPSTREAM_OVERLOADED", "retry UPSTREAM_OVERLOADED after 0.5"),
        *("attempt 1.2", "ended ok", "result unknown UNKNOWN_TOOL", "tool f", "result f ok"),
        *("attempt 2.1", "ended ok"),
    ]
    assert [request.trace_headers["traceparent"] for request in client.requests] == ["a-1.1", "a-1.2", "a-2.1"]
    assert [headers["traceparent"][:2] for headers in given] == ["a-"]


@EACH_LOOP
async def test_a_cancelled_attempt_ends_too(new_loop: type[V2Loop] | type[LegacyLoop]) -> None:
    """Otherwise a span would stay open."""
    asked = asyncio.Event()

    async def wait_forever() -> None:
        asked.set()
        await asyncio.Event().wait()

    log = Log()
    task = asyncio.create_task(run(new_loop, ScriptedClient([[SERVED], wait_forever]), [], log))
    await asked.wait()
    task.cancel()
    await asyncio.wait([task])
    assert log.seen == ["attempt 1.1", "ended ok"]


async def test_several_observers_all_observe_and_the_last_header_counts() -> None:
    """Metrics and traces observe the same run."""
    first, second = Log("first"), Log("second")
    client = ScriptedClient(calls(call(0, "f", "{}")), answer("Hello."))
    await run(V2Loop, client, [make_tool("f")], first, second)
    assert first.seen == second.seen != []
    assert client.requests[0].trace_headers == {"traceparent": "second-1.1"}


async def test_without_observers_no_header_is_sent() -> None:
    """The default."""
    client = ScriptedClient(answer("Hello."))
    await run(V2Loop, client, [])
    assert combined([]) is IGNORE
    assert client.requests[0].trace_headers == {}
