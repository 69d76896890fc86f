"""The retry policy: retry only if it can help, only before anything is visible, and not for long."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from signalbox.chat.loops.legacy import LegacyLoop
from signalbox.chat.loops.progress import Progress
from signalbox.chat.loops.retry import LONGEST_SILENCE, LONGEST_WAIT, MAX_ATTEMPTS, Retry, should_retry
from signalbox.chat.loops.stepper import LoopInputs
from signalbox.chat.loops.v2 import V2Loop
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import Done
from signalbox.core.ports import Loop
from signalbox.core.tools import Tool
from signalbox.services.tool_executor import ToolExecutor

from tests.support.fakes import ScriptedClient, make_tool
from tests.support.loop_runs import context_for, driven, no_wait

CONTEXT = context_for()
AGAIN = {
    Code.RATE_LIMIT,
    Code.UPSTREAM_OVERLOADED,
    Code.UPSTREAM_ERROR,
    Code.UPSTREAM_UNREACHABLE,
    Code.UPSTREAM_PROTOCOL,
    Code.UPSTREAM_TIMEOUT,
    Code.UPSTREAM_STALLED,
    Code.STREAM_CUT,
}


@pytest.mark.parametrize("code", list(Code))
def test_retryable_codes(code: Code) -> None:
    """Errors that a retry can fix are retried; rejections of the request are not (F5)."""
    assert (should_retry(CONTEXT, 1, False, UpstreamError(code)) is not None) == (code in AGAIN)


@pytest.mark.parametrize("code", sorted(AGAIN))
def test_never_after_something_visible(code: Code) -> None:
    """Visible text would be duplicated (F2)."""
    assert should_retry(CONTEXT, 1, True, UpstreamError(code)) is None


def test_backoff_grows_and_attempts_are_limited() -> None:
    """The delays are 0.5 and 1 second; the third attempt is the last."""
    error = UpstreamError(Code.UPSTREAM_ERROR)
    waits = [should_retry(CONTEXT, n, False, error) for n in range(1, MAX_ATTEMPTS + 1)]
    assert waits == [Retry(0.5), Retry(1.0), None]


@pytest.mark.parametrize(
    ("told", "retry"),
    [
        (0.0, Retry(0.0)),
        (3.0, Retry(3.0)),
        (LONGEST_WAIT, Retry(LONGEST_WAIT)),
        (LONGEST_WAIT + 0.1, None),
        (3600.0, None),
    ],
)
def test_f01_retry_after_is_respected_unless_it_is_long(told: float, retry: Retry | None) -> None:
    """A long delay ends the step, and the client gets `retry_after`."""
    assert should_retry(CONTEXT, 1, False, UpstreamError(Code.RATE_LIMIT, retry_after=told)) == retry


@pytest.mark.parametrize("code", [Code.UPSTREAM_STALLED, Code.UPSTREAM_TIMEOUT])
def test_a_long_stall_is_not_retried(code: Code) -> None:
    """A step that has waited half a minute ends; a shorter wait may be retried."""
    error = UpstreamError(code)
    assert should_retry(CONTEXT, 1, False, error, LONGEST_SILENCE - 0.1) == Retry(0.5)
    assert should_retry(CONTEXT, 1, False, error, LONGEST_SILENCE) is None


def test_a_stall_is_retried_once() -> None:
    """However short the timeout is, there is no third attempt."""
    assert should_retry(CONTEXT, 2, False, UpstreamError(Code.UPSTREAM_STALLED), 2.0) is None


def test_other_failures_are_retried_however_late() -> None:
    """A model that reasoned for minutes before the failure has not stalled."""
    assert should_retry(CONTEXT, 1, False, UpstreamError(Code.STREAM_CUT), 600.0) == Retry(0.5)


@dataclass
class Clock:
    """A clock that advances only when a script says so."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def stalls(self, seconds: float) -> list[object]:
        """Script an answer that never arrives: the upstream timeout passes, and the request stalls."""

        async def silence() -> None:
            self.now += seconds

        return [silence, UpstreamError(Code.UPSTREAM_STALLED)]


@pytest.mark.anyio
@pytest.mark.parametrize("new_loop", [V2Loop, LegacyLoop])
@pytest.mark.parametrize("tools", [[], [make_tool("f")]], ids=["last answer", "whole answer"])
@pytest.mark.parametrize(("silence", "requests", "total"), [(120.0, 1, 120.0), (20.0, 2, 40.0), (3.0, 2, 6.0)])
async def test_a_stalled_answer_takes_one_timeout(
    new_loop: Callable[..., Loop], tools: list[Tool], silence: float, requests: int, total: float
) -> None:
    """With the default timeout a stall is reported after two minutes, not six; a short one is retried once."""
    clock = Clock()
    client = ScriptedClient(*[clock.stalls(silence) for _ in range(3)])
    context, progress = context_for(tools), Progress(clock=clock)
    loop = new_loop(LoopInputs(context, client, ToolExecutor(tools), progress, sleep=no_wait))
    batches = await driven(loop, context, progress)
    done = batches[-1][-1]
    assert isinstance(done, Done)
    assert (done.status, done.code, done.retryable) == ("interrupted", "UPSTREAM_STALLED", True)
    assert (len(client.requests), clock.now) == (requests, total)


def test_an_error_marked_as_not_retryable() -> None:
    """It is not retried, whatever its code."""
    assert should_retry(CONTEXT, 1, False, UpstreamError(Code.UPSTREAM_ERROR, retryable=False)) is None


@pytest.mark.parametrize("error", [ValueError("x"), TimeoutError(), RuntimeError()])
def test_internal_errors_are_not_retried(error: Exception) -> None:
    """An error inside Signalbox is not retried."""
    assert should_retry(CONTEXT, 1, False, error) is None
