"""When the circuit breaker of an upstream opens, probes and closes."""

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.services.upstreams.circuit_breaker import FAILURES, SECONDS, CircuitBreaker

FAILED = UpstreamError(Code.UPSTREAM_OVERLOADED)


class Clock:
    """A clock that only moves if the test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def opened() -> tuple[CircuitBreaker, Clock]:
    """Return an open breaker and its clock."""
    clock = Clock()
    breaker = CircuitBreaker(clock)
    for _ in range(FAILURES):
        assert breaker.admits()
        breaker.record(FAILED)
    return breaker, clock


@pytest.mark.parametrize(
    "code",
    [
        Code.UPSTREAM_UNREACHABLE,
        Code.UPSTREAM_TIMEOUT,
        Code.UPSTREAM_STALLED,
        Code.UPSTREAM_OVERLOADED,
        Code.UPSTREAM_ERROR,
        Code.UPSTREAM_PROTOCOL,
        Code.STREAM_CUT,
    ],
)
def test_it_opens_after_consecutive_failures_of_the_upstream(code: Code) -> None:
    """The last of them opens it, not the one before."""
    breaker = CircuitBreaker(Clock())
    for _ in range(FAILURES - 1):
        breaker.record(UpstreamError(code))
    assert (breaker.state, breaker.admits()) == ("closed", True)
    breaker.record(UpstreamError(code))
    assert (breaker.state, breaker.admits()) == ("open", False)
    assert (breaker.consecutive_failures, breaker.last_error, breaker.since) == (FAILURES, code, 1000.0)


@pytest.mark.parametrize(
    "code", [Code.RATE_LIMIT, Code.UPSTREAM_AUTH, Code.UPSTREAM_CREDITS, Code.UPSTREAM_REJECTED, None]
)
def test_an_answer_ends_the_row_of_failures(code: Code | None) -> None:
    """An error that the caller caused is an answer, too."""
    breaker = CircuitBreaker(Clock())
    for _ in range(3):
        for _ in range(FAILURES - 1):
            breaker.record(FAILED)
        breaker.record(UpstreamError(code) if code else None)
    assert (breaker.state, breaker.consecutive_failures, breaker.since) == ("closed", 0, None)


def test_one_request_probes_after_the_pause() -> None:
    """It is half open for one caller; the others skip it until the outcome is known."""
    breaker, clock = opened()
    clock.now += SECONDS - 1
    assert (breaker.state, breaker.admits()) == ("open", False)
    clock.now += 1
    assert (breaker.state, breaker.admits(), breaker.admits()) == ("half_open", True, False)
    breaker.record(None)
    assert (breaker.state, breaker.admits(), breaker.since) == ("closed", True, 1000.0 + SECONDS)


def test_a_failed_probe_opens_it_again() -> None:
    """For another pause; the failures go on counting, and `since` stays the first opening."""
    breaker, clock = opened()
    clock.now += SECONDS
    assert breaker.admits()
    breaker.record(FAILED)
    assert (breaker.state, breaker.admits(), breaker.since) == ("open", False, 1000.0)
    assert breaker.consecutive_failures == FAILURES + 1
    clock.now += SECONDS
    assert breaker.admits()


def test_it_knows_when_a_request_has_checked_it() -> None:
    """An answer, an opening and a failed probe check it; a single failure and the pause do not."""
    clock = Clock()
    breaker = CircuitBreaker(clock)
    breaker.record(FAILED)
    assert breaker.checked is None
    breaker.record(None)
    assert breaker.checked == 1000.0
    breaker, clock = opened()
    assert breaker.checked == 1000.0
    clock.now += SECONDS
    assert (breaker.state, breaker.checked) == ("half_open", 1000.0)
    breaker.record(FAILED)
    assert breaker.checked == 1000.0 + SECONDS
    clock.now += SECONDS
    breaker.record(None)
    assert breaker.checked == 1000.0 + 2 * SECONDS


def test_a_lost_probe_is_repeated() -> None:
    """The run of a probe may be stopped before its outcome."""
    breaker, clock = opened()
    clock.now += SECONDS
    assert breaker.admits()
    clock.now += SECONDS
    assert breaker.admits()
