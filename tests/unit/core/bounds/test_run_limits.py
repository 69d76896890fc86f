"""Which endings are limits. Each code with which a run ends as `interrupted` must be assigned here."""

import re
from pathlib import Path

import pytest
import signalbox
from signalbox.chat.budget import BudgetReached
from signalbox.core.bounds.run_limits import COST_LIMITS, RUN_LIMITS, has_failed
from signalbox.core.codes import Code

INTERRUPTED_BY_FAILURES = {
    Code.STREAM_CUT,
    Code.UPSTREAM_STALLED,
    Code.STOP_UNKNOWN,
    Code.TURN_PAUSED,
    Code.SERVER_SHUTDOWN,
    Code.SERVER_CRASH,
}
_INTERRUPTS = re.compile(r'Ending\("interrupted", Code\.(\w+)')


def test_every_code_that_interrupts_is_assigned() -> None:
    """A new one has to be either a limit or a failure."""
    sources = (path.read_text() for path in Path(signalbox.__file__).parent.rglob("*.py"))
    found = {Code(name) for source in sources for name in _INTERRUPTS.findall(source)}
    assert found >= {Code.RUN_TOO_LARGE, Code.DETACHED_TIMEOUT, Code.SERVER_CRASH}
    assert found - INTERRUPTED_BY_FAILURES <= RUN_LIMITS
    assert not RUN_LIMITS & INTERRUPTED_BY_FAILURES


@pytest.mark.parametrize("is_exhausted", [False, True])
def test_both_ends_of_a_budget_are_cost_limits(is_exhausted: bool) -> None:
    """That of the run, and that of its owner."""
    assert BudgetReached(has_begun=True, is_exhausted=is_exhausted).code in COST_LIMITS


@pytest.mark.parametrize("code", Code)
def test_a_limit_is_no_failure(code: Code) -> None:
    """All other endings as `error` or `interrupted` are failures."""
    assert has_failed("interrupted", code) == has_failed("error", code) == (code not in RUN_LIMITS)
    assert not has_failed("complete", None)
    assert not has_failed("cancelled", code)
