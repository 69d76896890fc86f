"""The record of attempts: reported costs are summed, and missing ones are known to be missing (quirk F4)."""

from typing import Any

import pytest
from msgspec import UNSET
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import Bill, Completion, Request, Served, Usage
from signalbox.core.ports import Destination

ASK = Request("openai/sim", (UserMessage("Hello!"),))
FIRST = Usage(input=10, output=5, reasoning=2, cached=1, cost=0.001)
SECOND = Usage(input=20, output=7, cost=0.0002)
REFUSED = UpstreamError(Code.RATE_LIMIT)


def attempted(
    progress: Progress, *, served: Served | None = None, usage: Usage | None = None, error: Any = None
) -> Attempt:
    """Record one finished attempt."""
    attempt = progress.begin_attempt(ASK, 1, final=False)
    attempt.finish(Completion(usage=usage, served=served or Served()), 1.0, error)
    return attempt


def test_failed_attempts_with_usage_are_summed() -> None:
    """An attempt costs what it reported, even if it failed afterwards."""
    progress = Progress(clock=lambda: 0.0)
    attempted(progress, usage=FIRST, error=UpstreamError(Code.STREAM_CUT))
    attempted(progress, usage=SECOND)
    assert progress.usage == Usage(input=30, output=12, reasoning=2, cached=1, cost=0.0012)
    assert not progress.is_estimate


@pytest.mark.parametrize(
    ("generation", "first_part", "error", "owed"),
    [
        (None, None, None, True),
        (None, None, REFUSED, False),
        (None, None, "refused in words", False),
        (None, None, UpstreamError(Code.UPSTREAM_UNREACHABLE), False),
        (None, None, UpstreamError(Code.UPSTREAM_STALLED), True),
        (None, None, UpstreamError(Code.STREAM_CUT), True),
        ("gen-1", None, None, True),
        ("gen-1", None, REFUSED, True),
        (None, 0.5, REFUSED, True),
    ],
)
def test_attempts_of_unknown_cost(generation: str | None, first_part: float | None, error: Any, owed: bool) -> None:
    """A known generation, a first part, a stop or a stall may be billed; a rejection is not."""
    progress = Progress(clock=lambda: 0.0)
    attempt = progress.begin_attempt(ASK, 1, final=False)
    attempt.first_part = first_part
    attempt.set_generation(Served(generation))
    assert not progress.is_estimate, "it is still under way"
    attempt.finish(Completion(), 1.0, error)
    assert (attempt.is_cost_unknown, progress.is_estimate) == (owed, owed)


def test_the_generation_id_of_the_headers_is_kept() -> None:
    """It stays if no chunk arrives, and is replaced if a chunk names another one."""
    progress = Progress(clock=lambda: 0.0)
    attempt = progress.begin_attempt(ASK, 1, final=False)
    attempt.set_generation(Served("gen-head"))
    attempt.finish(Completion(), 1.0, None)
    assert attempt.generation_id == "gen-head"
    assert attempted(progress, served=Served("gen-chunk")).generation_id == "gen-chunk"


def test_a_generation_is_recorded_once() -> None:
    """The headers or the first frame set it; a repetition changes nothing."""
    changes: list[str | None] = []
    progress = Progress(clock=lambda: 0.0, on_change=lambda: changes.append(progress.attempts[-1].generation_id))
    progress.begin_attempt(ASK, 1, final=False)
    for told in (None, "gen-1", "gen-1", None, "gen-2"):
        progress.record_head(Served(told))
    assert changes == [None, "gen-1", "gen-2"]


def test_a_bill_replaces_missing_usage() -> None:
    """A billed attempt counts like a reported one; the provider named in the stream stays."""
    progress = Progress(clock=lambda: 0.0)
    attempted(progress, served=Served("gen-1", "openai/sim", "OpenAI"), usage=FIRST)
    owed = attempted(progress, served=Served("gen-2", "openai/sim-served"))
    assert progress.is_estimate
    owed.apply_bill(Bill(SECOND, "openai/other", "Azure", cancelled=True))
    assert (owed.settled, owed.cancelled) == (True, True)
    assert (owed.served_model, owed.provider) == ("openai/sim-served", "Azure")
    assert progress.usage == FIRST + SECOND
    assert not progress.is_estimate


def test_an_error_is_recorded_with_sentence_and_code() -> None:
    """The trace shows both."""
    attempt = attempted(Progress(), error=REFUSED)
    assert (attempt.error, attempt.code) == (REFUSED.message, "RATE_LIMIT")


@pytest.mark.parametrize("streamed", [True, False])
def test_a_lost_whole_answer_has_an_unknown_cost(streamed: bool) -> None:
    """A stream that breaks before its headers had not begun; a whole answer may be complete by then (F4)."""
    progress = Progress(clock=lambda: 0.0)
    attempt = progress.begin_attempt(ASK, 1, final=False)
    attempt.streamed = streamed
    attempt.finish(Completion(), 1.0, UpstreamError(Code.UPSTREAM_PROTOCOL))
    assert progress.is_estimate is not streamed


# --- costs that are computed ---

TOKENS = Usage(input=1_000, output=100, cached=400)
PRICES = Prices(0.001, 0.01, cached=0.0001)


def computed(progress: Progress, usage: Usage | None, prices: Prices | None) -> Attempt:
    """Record one attempt at an upstream with these prices."""
    attempt = progress.begin_attempt(ASK, 1, final=False, at=Destination(prices=prices))
    progress.finish_attempt(Completion(usage=usage), None)
    return attempt


def test_a_cost_that_is_not_reported_is_computed() -> None:
    """From the tokens and the prices of the attempt's own upstream, and it is marked."""
    progress = Progress(clock=lambda: 0.0)
    first = computed(progress, TOKENS, PRICES)
    second = computed(progress, TOKENS, Prices(0.01, 0.0))
    assert first.usage is not None
    assert second.usage is not None
    assert (first.usage.cost, first.cost_estimated) == (1.64, True)
    assert (second.usage.cost, second.cost_estimated) == (10.0, True)
    assert progress.usage is not None
    assert (progress.usage.cost, progress.is_estimate) == (11.64, True)


def test_a_reported_cost_is_kept() -> None:
    """Prices do not replace it."""
    progress = Progress(clock=lambda: 0.0)
    attempt = computed(progress, FIRST, PRICES)
    assert (attempt.usage, attempt.cost_estimated, progress.is_estimate) == (FIRST, UNSET, False)


def test_without_a_price_there_is_no_cost() -> None:
    """The tokens are known, and nothing is marked as an estimate."""
    progress = Progress(clock=lambda: 0.0)
    computed(progress, TOKENS, None)
    assert progress.usage == TOKENS
    assert not progress.is_estimate


def test_a_sum_that_lacks_an_attempt_is_an_estimate() -> None:
    """One attempt reports its cost, and another one only its tokens."""
    progress = Progress(clock=lambda: 0.0)
    computed(progress, FIRST, None)
    computed(progress, TOKENS, None)
    assert progress.usage is not None
    assert (progress.usage.cost, progress.is_estimate) == (0.001, True)


def test_a_bill_replaces_a_computed_cost() -> None:
    """It is what the upstream charges."""
    progress = Progress(clock=lambda: 0.0)
    attempt = computed(progress, TOKENS, PRICES)
    attempt.apply_bill(Bill(FIRST))
    assert (attempt.usage, attempt.cost_estimated, progress.is_estimate) == (FIRST, UNSET, False)
