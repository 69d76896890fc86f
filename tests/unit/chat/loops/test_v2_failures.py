"""The V2 loop when a step fails: what does not run, what is retried, how the run ends."""

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
async def test_calls_of_a_failed_step_do_not_run(end: str) -> None:
    """After an error, a cut or a refusal no call starts, and no request follows (A7, E2)."""
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
async def test_eager_calls_of_a_failed_step_get_a_result(end: str) -> None:
    """A running eager call gets STEP_FAILED, once, and its task is cancelled."""
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
async def test_a_step_cut_by_its_limit_runs_no_call(native: str | None) -> None:
    """At the token limit calls get an error and are not run, and the model may try again (A7)."""
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


async def test_a_truncated_call_is_recognised_by_its_arguments() -> None:
    """Truncated arguments are recognised although the finish reason is tool_calls (A7)."""
    outcome = await run(ScriptedClient(calls(CallDelta(0, "c", "f", '{"a":"b')), answer("Hi")), [make_tool("f")])
    assert outcome.codes() == [Code.ARGUMENTS_CUT]


async def test_length_without_calls_ends_the_run() -> None:
    """A long answer ends with status length; its text stays (B8)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Half an")], ending("length")]))
    assert (outcome.done.status, outcome.text) == ("length", "Half an")
    assert outcome.warnings == ["LENGTH"]


async def test_a_refusal_is_content_and_an_ending() -> None:
    """A refusal is emitted as content with `refusal`; the run ends as content_filter."""
    outcome = await run(ScriptedClient([[SERVED], [RefusalDelta("I "), RefusalDelta("can't.")], ending()]))
    assert [e.refusal for e in outcome.events if isinstance(e, Content)] == [True, True]
    assert outcome.done.status == "content_filter"


# --- failures and retries ---


async def test_a_failure_before_anything_visible_is_retried() -> None:
    """Two failed attempts and a successful one are one step; their usage is summed."""
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


async def test_at_most_three_attempts() -> None:
    """The third failure ends the run."""
    outcome = await run(ScriptedClient(*[[UpstreamError(Code.UPSTREAM_OVERLOADED)]] * 3))
    assert (outcome.done.status, outcome.done.code, outcome.done.retryable) == ("error", "UPSTREAM_OVERLOADED", True)


@pytest.mark.parametrize(
    "visible",
    [[TextDelta("H")], [ReasoningDelta("H")], [RefusalDelta("H")], [call(0, "f", "{}")]],
    ids=["text", "reasoning", "refusal", "eager call"],
)
@pytest.mark.parametrize("failure", ["raised", "error", "cut"])
async def test_no_retry_after_anything_visible(visible: list[StreamPart], failure: str) -> None:
    """After text, reasoning or an announced call, a retry would duplicate it (F2)."""
    client = ScriptedClient([[SERVED], visible, *BAD_ENDS[failure][0]])
    outcome = await run(client, [eager("f")])
    assert len(client.requests) == 1
    assert outcome.done.code == BAD_ENDS[failure][2]


@pytest.mark.parametrize(
    "code", [Code.UPSTREAM_AUTH, Code.UPSTREAM_CREDITS, Code.UPSTREAM_REJECTED, Code.CONTEXT_LENGTH_EXCEEDED]
)
async def test_rejections_are_reported_at_once(code: Code) -> None:
    """An error that a retry cannot fix is not retried; the warning has its sentence (F5)."""
    outcome = await run(ScriptedClient([UpstreamError(code, "Because.")]))
    assert (outcome.done.status, outcome.done.code, outcome.done.error) == ("error", code, "Because.")
    assert outcome.done.retryable is False
    assert kinds(outcome.events) == ["Warning", "Done"]


async def test_a_long_wait_is_reported() -> None:
    """If the provider asks for a minute, the run ends and the client gets `retry_after` (F1)."""
    outcome = await run(ScriptedClient([UpstreamError(Code.RATE_LIMIT, retry_after=60.0)]))
    assert (outcome.done.retry_after, outcome.done.retryable) == (60.0, True)


async def test_a_failure_in_a_later_step_keeps_the_text() -> None:
    """Text and results of earlier steps stay, and the ending has the error."""
    first = [[SERVED], [TextDelta("Let me look.")], [call(0, "f", "{}")], ending("tool_calls")]
    client = ScriptedClient(first, *[[UpstreamError(Code.UPSTREAM_ERROR)]] * 3)
    outcome = await run(client, [make_tool("f")])
    assert outcome.text == "Let me look."
    assert (outcome.codes(), outcome.done.status, outcome.done.steps) == ([None], "error", 2)


@pytest.mark.parametrize("said", [[], [TextDelta("Half")]], ids=["silent", "speaking"])
async def test_eof_without_finish_is_interrupted(said: list[StreamPart]) -> None:
    """A stream that just ends was cut; it is never a success (E2)."""
    scripts = [[[SERVED], said]] * (1 if said else 3)
    outcome = await run(ScriptedClient(*scripts))
    assert (outcome.done.status, outcome.done.code) == ("interrupted", "STREAM_CUT")
    assert outcome.text == ("Half" if said else "")


async def test_a_finish_without_done_is_complete() -> None:
    """Providers that never send [DONE] have finished after their finish reason (E2)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Hi")], [finish_of("stop")]]))
    assert outcome.done.status == "complete"


async def test_done_alone_with_text_is_complete_and_without_is_not() -> None:
    """[DONE] without a finish reason ends an answer; [DONE] alone is a cut (E1, E2)."""
    assert (await run(ScriptedClient([[TextDelta("Hi")], [EndOfStream()]]))).done.status == "complete"
    silent = await run(ScriptedClient(*[[[EndOfStream()]]] * 4))
    assert (silent.done.status, silent.done.code) == ("interrupted", "STREAM_CUT")


async def test_unreadable_frames_are_reported() -> None:
    """A frame that cannot be decoded gives a warning, and the run continues (E10)."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("H"), Unreadable(9), TextDelta("i")], ending()]))
    assert (outcome.text, outcome.warnings, outcome.done.status) == ("Hi", ["FRAME_UNREADABLE"], "complete")


@pytest.mark.parametrize(
    "error", [ValueError("canary-secret"), RuntimeError("canary-secret"), KeyError("canary-secret")]
)
async def test_an_internal_error_is_reported_without_text(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    """The run ends with INTERNAL, and neither events nor log contain the exception's text."""
    outcome = await run(ScriptedClient([[SERVED], [TextDelta("Hi")], error]))
    assert (outcome.done.status, outcome.done.code) == ("error", "INTERNAL")
    assert outcome.text == "Hi"
    assert "canary-secret" not in str(outcome.events)
    printed = capsys.readouterr()
    assert "canary-secret" not in printed.out + printed.err


# --- events that cannot be emitted ---


class Refusing(Seen):
    """Accepts events, except the first one of this type."""

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
async def test_an_event_that_cannot_be_emitted_ends_the_run(
    kind: str, ended: tuple[str, str | None], codes: list[str | None]
) -> None:
    """It ends the run, or fails the tool; an announced call still gets its one result."""
    seen = Refusing(kind)
    outcome = await run(ScriptedClient(calls(call(0, "f", "{}")), answer("Hi")), [eager("f")], seen=seen)
    assert seen == outcome.events  # their order was checked by `run`
    assert (outcome.done.status, outcome.done.code or None) == ended
    assert outcome.codes() == codes


class _Large:
    """Stands for an answer of many megabytes."""


class _Failing(ScriptedClient):
    """Fails while it holds an answer, with an error raised while another one was handled."""

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


async def test_a_failed_answer_is_released_with_its_run() -> None:
    """No reference cycle of a frame and its error keeps the answer in memory."""
    client = _Failing()
    gc.disable()
    try:
        assert (await run(client)).done.code == "UPSTREAM_REJECTED"
        assert [held() for held in client.held] == [None]
    finally:
        gc.enable()
