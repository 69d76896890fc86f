"""How runs count for the rollout."""

from typing import Any

import pytest
from signalbox.core.bounds.run_limits import RUN_LIMITS
from signalbox.core.codes import Code
from signalbox.core.events import Flag
from signalbox.core.parts import Usage
from signalbox.core.records import RunRecord
from signalbox.rollout.outcomes import Outcome, outcome_of


def record(**given: Any) -> RunRecord:
    """Make an ended run whose loop a percentage has chosen."""
    fields: dict[str, Any] = {
        "id": "run",
        "model": "openai/gpt",
        "loop": "v2",
        "flag": Flag("v2", "SPLIT"),
        "status": "complete",
        "started": 100.0,
        "ended": 105.0,
    }
    return RunRecord(**(fields | given))


def test_a_complete_run_has_time_and_cost() -> None:
    """The time to the first token is in milliseconds; the subject is the conversation."""
    run = record(conversation_id="chat", first_token_ms=250, usage=Usage(1, 2, cost=0.5))
    assert outcome_of(run) == Outcome(
        run_id="run", subject="chat", loop="v2", family="openai", ended=105.0, first_token=250, cost=0.5
    )


@pytest.mark.parametrize(
    ("status", "code", "bad"),
    [
        ("error", Code.UPSTREAM_ERROR, ["error"]),
        ("error", Code.EMPTY_ANSWER, ["empty"]),
        ("interrupted", Code.STREAM_CUT, ["interrupted"]),
        ("length", Code.LENGTH, []),
    ],
)
def test_a_failure_counts_once(status: Any, code: Code, bad: list[str]) -> None:
    """Each ending belongs to one metric at most."""
    outcome = outcome_of(record(status=status, code=code))
    assert outcome is not None
    assert [name for name in ("error", "interrupted", "empty") if getattr(outcome, name)] == bad


@pytest.mark.parametrize(
    "given",
    [
        {"status": "cancelled"},
        *({"status": "interrupted", "code": code} for code in RUN_LIMITS),
        {"status": "interrupted", "code": Code.SERVER_SHUTDOWN},
        {"flag": Flag("v2", "TARGETING_MATCH")},
        {"flag": None},
        {"status": None, "ended": None},
    ],
)
def test_other_runs_do_not_count(given: dict[str, Any]) -> None:
    """Stopped by a user or a limit, on a loop that was not chosen at random, or not over."""
    assert outcome_of(record(**given)) is None
