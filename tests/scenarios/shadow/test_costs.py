"""What a shadow run counts against the daily budget: reported costs, else tokens times prices, else its reservation."""

import json
from pathlib import Path
from typing import Any

import pytest
from signalbox.store.shadow_runs import ShadowRun

from tests.scenarios.shadow.test_shadow import again, settings
from tests.support.running_app import RunningApp
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, says, sends

PRICED = {"prompt": "0.00001", "completion": "0.00002"}
DEAR = {"prompt": "0.1", "completion": "0.1"}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
RESERVED = 0.1


def catalogue(pricing: dict[str, str] | None) -> Script:
    """Make a script that lists one model."""
    entry = {"id": "openai/sim", "supported_parameters": ["tools"], "pricing": pricing}

    async def models(exchange: Exchange) -> None:
        await exchange.whole(200, json.dumps({"data": [entry]}).encode())

    return models


def whole(status: int, **fields: Any) -> Script:
    """Make a script that sends a whole answer; the legacy loop asks for no stream."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}
    answer = {"id": "gen-1", "model": "openai/sim", "choices": [choice], **fields}
    return sends(json.dumps(answer).encode(), status=status, kind="application/json")


def made_again(folder: Path, script: Script, pricing: dict[str, str] | None = PRICED) -> ShadowRun:
    """Ask on V2; make the run again on the legacy loop, which gets this answer."""
    with (
        ScriptedUpstream(says("Hello."), script, models=catalogue(pricing)) as upstream,
        RunningApp(settings(folder, openrouter_base_url=upstream.base_url)) as app,
    ):
        run_id = app.post(prompt="Hello!").headers["x-run-id"]
        app.over(run_id)
        app.within(app.parts.runs.store.flush(run_id))
        result = again(app, run_id)
        assert result is not None
        return result


def test_a_rejected_request_costs_nothing(tmp_path: Path) -> None:
    """The runs differ, and the budget of the day is untouched."""
    result = made_again(tmp_path, whole(400, error={"code": 400, "message": "tools.0: invalid"}))
    assert (result.outcome, result.cost) == ("unexpected", 0.0)


@pytest.mark.parametrize(
    ("usage", "pricing", "cost"),
    [
        ({**USAGE, "cost": 0.007}, PRICED, 0.007),
        (USAGE, PRICED, 0.0002),
        (USAGE, None, RESERVED),
        (None, None, RESERVED),
    ],
    ids=["reported", "by tokens", "no price", "no usage and no price"],
)
def test_the_best_known_cost_counts(
    tmp_path: Path, usage: dict[str, Any] | None, pricing: dict[str, str] | None, cost: float
) -> None:
    """A cost that the provider does not report is computed; the reservation is the last resort."""
    result = made_again(tmp_path, whole(200, **({"usage": usage} if usage else {})), pricing)
    assert result.cost == pytest.approx(cost)


def test_without_usage_the_texts_count(tmp_path: Path) -> None:
    """An answer without usage costs what its prompt and its text would, far less than the reservation."""
    result = made_again(tmp_path, whole(200))
    assert 0 < result.cost < RESERVED


def test_a_run_that_its_reservation_stops_is_not_compared(tmp_path: Path) -> None:
    """The limit is that of shadow mode, and says nothing about the loop."""
    result = made_again(tmp_path, whole(200), DEAR)
    assert (result.outcome, result.differences) == ("failed", ())
