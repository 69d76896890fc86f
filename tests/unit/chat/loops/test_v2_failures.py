"""The V2 loop when a step does not end well: what is not run, what is tried again, how the run ends."""

import asyncio
import gc
import weakref
from collections.abc import Sequence

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content
from signalbox.core.messages import (
    JsonObject,
)
from signalbox.core.parts import (
    CallDelta,
    EndOfStream,
    Fault,
    ReasoningDelta,
    RefusalDelta,
    Request,
    StreamPart,
    TextDelta,
    Unreadable,
    Usage,
    UsageReport,
)
from signalbox.core.ports import Emit, OnHead
from signalbox.core.tools import ToolContext
from signalbox.wire.finish_reasons import finish_of

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import Seen, run
from tests.support.loop_tools import assistants, eager, kinds

pytestmark = pytest.mark.anyio


# --- steps that do not end well ---

BAD_ENDS: dict[str, tuple[list[object], str, str]] = {
    "error": ([[Fault(UpstreamError(Code.UPSTREAM_ERROR))]], "error", "UPSTREAM_ERROR"),
    "raised": ([UpstreamError(Code.UPSTREAM_TIMEOUT)], "error", "UPSTREAM_TIMEOUT"),
    "cut": ([], "interrupted", "STREAM_CUT"),
    "finish error": ([[finish_of("error"), EndOfStream()]], "error", "UPSTREAM_ERROR"),
    "refusal": ([[RefusalDelta("No.")], ending("stop")], "content_filter", "CONTENT_FILTER"),
    "filter": ([ending("content_filter")], "content_filter", "CONTENT_FILTER"),
    "native refusal": ([ending("tool_calls", native="refusal")], "content_filter", "CONTENT_FILTER"),
    "native failure": ([ending("stop", native="insufficient_system_resource")], "error", "UPSTREAM_ERROR"),
}


@pytest.mark.parametrize("end", BAD_ENDS)
async def test_calls_of_a_step_that_fails_are_not_run(end: str) -> None:
    """Behind an error, a cut or a refusal nothing starts any more, and nothing is sent to the model again (A7, E2)."""
    tail, status, code = BAD_ENDS[end]
    ran: list[JsonObject] = []
    tool = make_tool("f", lambda arguments, context: ran.append(arguments))
    client = ScriptedClient([[SERVED], [TextDelta("x")], [call(0, "f", "{}")], *tail])
    outcome = await run(client, [tool])
    assert not ran
    assert (outcome.done.status, outcome.done.code) == (status, code)
    assert not outcome.announced
    assert len(client.requests) == 1


@pytest.mark.parametrize("end", BAD_ENDS)
async def test_eager_calls_of_a_step_that_fails_are_answered(end: str) -> None:
    """An eager call that still runs is answered STEP_FAILED, once, and its work is stopped."""
    tail, status, code = BAD_ENDS[end]
    stopped = asyncio.Event()

    async def work(arguments: JsonObject, context: ToolContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def a_moment() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    outcome = await run(ScriptedClient([[SERVED], [call(0, "f", "{}")], a_moment, *tail]), [eager("f", work)])
    assert (outcome.done.status, outcome.done.code) == (status, code)
    assert outcome.codes() == [Code.STEP_FAILED]
    assert stopped.is_set()
    assert outcome.warnings[-1] == code


@pytest.mark.parametrize("native", [None, "max_output_tokens"])
async def test_a_step_cut_by_its_limit_runs_no_call_and_goes_on(native: str | None) -> None:
    """At the token limit calls are answered, not run, and the model may try again (A7)."""
    ran: list[JsonObject] = []
    tool = make_tool("f", lambda arguments, context: ran.append(arguments))
    reason = "tool_calls" if native else "length"
    cut = [[SERVED], [call(0, "f", '{"a":1}'), call(1, "f", '{"a"')], ending(reason, native=native)]
    client = ScriptedClient(cut, answer("Hi"))
    outcome = await run(client, [tool])
    assert not ran
    assert outcome.codes() == [Code.STEP_FAILED, Code.ARGUMENTS_CUT]
    assert outcome.done.status == "complete"
    assert [c.arguments for c in assistants(outcome)[0].calls] == [{"a": 1}, {}]


async def test_a_cut_call_is_known_without_the_hosts_word() -> None:
    """Unbalanced arguments are cut, although the finish says tool_calls (A7)."""
    outcome = await run(ScriptedClient(calls(CallDelta(0, "c", "f", '{"a":"b')), answer("Hi")), [make_tool("f")])
    assert outcome.codes() == [Code.ARGUMENTS_CUT]


async def test_length_without_calls_ends_the_run() -> None:
    """A long answer ends as length; its words are kept (B8)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Half an")], ending("length")]))
    assert (outcome.done.status, outcome.text) == ("length", "Half an")
    assert outcome.warnings == ["LENGTH"]


async def test_a_refusal_is_content_and_an_ending() -> None:
    """A refusal goes out as content that says so; the run ends as content_filter."""
    outcome = await run(ScriptedClient([[SERVED], [RefusalDelta("I "), RefusalDelta("can't.")], ending()]))
    assert [e.refusal for e in outcome.events if isinstance(e, Content)] == [True, True]
    assert outcome.done.status == "content_filter"


# --- failures and retries ---


async def test_a_failure_before_anything_visible_is_tried_again() -> None:
    """Two failed attempts and a good one are one step; their figures add up."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    cost = UsageReport(Usage(1, 1, cost=0.25), {})
    client = ScriptedClient(
        [UpstreamError(Code.UPSTREAM_OVERLOADED)],
        [[SERVED], [cost, Fault(UpstreamError(Code.UPSTREAM_ERROR))]],
        answer("Hi", cost=0.5),
    )
    outcome = await run(client, sleep=sleep)
    assert (outcome.text, outcome.done.steps, outcome.done.cost) == ("Hi", 1, 0.75)
    assert waits == [0.5, 1.0]
    assert client.closed == 3
    assert [a.number for a in outcome.progress.attempts] == [1, 2, 3]


async def test_three_attempts_are_all() -> None:
    """The third failure is the run's."""
    outcome = await run(ScriptedClient(*[[UpstreamError(Code.UPSTREAM_OVERLOADED)]] * 3))
    assert (outcome.done.status, outcome.done.code, outcome.done.retryable) == ("error", "UPSTREAM_OVERLOADED", True)


@pytest.mark.parametrize(
    "visible",
    [[TextDelta("H")], [ReasoningDelta("H")], [RefusalDelta("H")], [call(0, "f", "{}")]],
    ids=["text", "reasoning", "refusal", "eager call"],
)
@pytest.mark.parametrize("failure", ["raised", "error", "cut"])
async def test_no_retry_after_anything_visible(visible: list[StreamPart], failure: str) -> None:
    """Text, reasoning or an announced call has left: asking again would double it (F2)."""
    client = ScriptedClient([[SERVED], visible, *BAD_ENDS[failure][0]])
    outcome = await run(client, [eager("f")])
    assert len(client.requests) == 1
    assert outcome.done.code == BAD_ENDS[failure][2]


@pytest.mark.parametrize(
    "code", [Code.UPSTREAM_AUTH, Code.UPSTREAM_CREDITS, Code.UPSTREAM_REJECTED, Code.CONTEXT_LENGTH_EXCEEDED]
)
async def test_refusals_are_told_at_once(code: Code) -> None:
    """What asking again cannot mend is asked once, and its sentence is the warning's (F5)."""
    outcome = await run(ScriptedClient([UpstreamError(code, "Because.")]))
    assert (outcome.done.status, outcome.done.code, outcome.done.error) == ("error", code, "Because.")
    assert outcome.done.retryable is False
    assert kinds(outcome.events) == ["Warning", "Done"]


async def test_a_long_wait_is_told() -> None:
    """A host that wants a minute is not waited for; the reader is told when (F1)."""
    outcome = await run(ScriptedClient([UpstreamError(Code.RATE_LIMIT, retry_after=60.0)]))
    assert (outcome.done.retry_after, outcome.done.retryable) == (60.0, True)


async def test_a_failure_in_a_later_step_keeps_what_was_said() -> None:
    """Words and results of earlier steps stay, and the ending is honest."""
    first = [[SERVED], [TextDelta("Let me look.")], [call(0, "f", "{}")], ending("tool_calls")]
    client = ScriptedClient(first, *[[UpstreamError(Code.UPSTREAM_ERROR)]] * 3)
    outcome = await run(client, [make_tool("f")])
    assert outcome.text == "Let me look."
    assert (outcome.codes(), outcome.done.status, outcome.done.steps) == ([None], "error", 2)


@pytest.mark.parametrize("said", [[], [TextDelta("Half")]], ids=["silent", "speaking"])
async def test_eof_without_finish_is_interrupted(said: list[StreamPart]) -> None:
    """Bytes that just end are a cut, never a success (E2)."""
    scripts = [[[SERVED], said]] * (1 if said else 3)
    outcome = await run(ScriptedClient(*scripts))
    assert (outcome.done.status, outcome.done.code) == ("interrupted", "STREAM_CUT")
    assert outcome.text == ("Half" if said else "")


async def test_a_finish_without_done_is_complete() -> None:
    """Hosts that never send [DONE] have finished when they say so (E2)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Hi")], [finish_of("stop")]]))
    assert outcome.done.status == "complete"


async def test_done_alone_with_text_is_complete_and_without_is_not() -> None:
    """[DONE] without a finish ends an answer; [DONE] alone is a cut (E1, E2)."""
    assert (await run(ScriptedClient([[TextDelta("Hi")], [EndOfStream()]]))).done.status == "complete"
    silent = await run(ScriptedClient(*[[[EndOfStream()]]] * 4))
    assert (silent.done.status, silent.done.code) == ("interrupted", "STREAM_CUT")


async def test_unreadable_frames_are_told_and_cost_nothing_else() -> None:
    """A frame that could not be read is a warning, not an end (E10)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("H"), Unreadable(9), TextDelta("i")], ending()]))
    assert (outcome.text, outcome.warnings, outcome.done.status) == ("Hi", ["FRAME_UNREADABLE"], "complete")


@pytest.mark.parametrize(
    "error", [ValueError("canary-secret"), RuntimeError("canary-secret"), KeyError("canary-secret")]
)
async def test_a_fault_of_ours_is_told_without_its_text(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever breaks inside, the run ends with INTERNAL, and neither events nor log quote it."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Hi")], error]))
    assert (outcome.done.status, outcome.done.code) == ("error", "INTERNAL")
    assert outcome.text == "Hi"
    assert "canary-secret" not in str(outcome.events)
    printed = capsys.readouterr()
    assert "canary-secret" not in printed.out + printed.err


# --- what cannot be told ---


class Refusing(Seen):
    """Takes events, but not the first of this kind."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind: str | None = kind

    def emit(self, batch: Sequence[AnyEvent]) -> None:
        if self.kind in [type(event).__name__ for event in batch]:
            self.kind = None
            raise OSError("the journal is full")
        super().emit(batch)


@pytest.mark.parametrize(
    ("kind", "ended", "codes"),
    [
        ("Reasoning", ("error", "INTERNAL"), []),
        ("ToolCalls", ("error", "INTERNAL"), []),
        ("ToolExecuting", ("complete", None), [Code.TOOL_FAILED]),
        ("ToolResult", ("complete", None), [Code.STEP_FAILED]),
        ("Content", ("error", "INTERNAL"), [None]),
    ],
)
async def test_what_cannot_be_told_counts_as_not_told(
    kind: str, ended: tuple[str, str | None], codes: list[str | None]
) -> None:
    """What refuses an event ends the run, or fails the tool; a call that was told still gets its one result."""
    seen = Refusing(kind)
    outcome = await run(ScriptedClient(calls(call(0, "f", "{}")), answer("Hi")), [eager("f")], seen=seen)
    assert seen == outcome.events  # their order was checked by `run`
    assert (outcome.done.status, outcome.done.code or None) == ended
    assert outcome.codes() == codes


class _Large:
    """Stands for an answer of many megabytes."""


class _Failing(ScriptedClient):
    """Fails with an answer at hand, and an error that was raised while another one was handled."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[weakref.ref[_Large]] = []

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        answer = _Large()
        self.held.append(weakref.ref(answer))
        try:
            int("no number")
        except ValueError as error:
            error.args = (answer,)
            raise UpstreamError(Code.UPSTREAM_REJECTED) from error


async def test_a_failed_answer_is_let_go_with_its_run() -> None:
    """No cycle of a frame and the error that it raised keeps an answer until garbage is collected."""
    client = _Failing()
    gc.disable()
    try:
        assert (await run(client)).done.code == "UPSTREAM_REJECTED"
        assert [held() for held in client.held] == [None]
    finally:
        gc.enable()
