"""F1 to F6: what is retried, after which delay and at what cost; F4 and F7 are in test_f04_cost.py."""

from typing import Any

import pytest
from signalbox.chat.loops.retry import Retry

from tests.scenarios.quirks.sim_runs import Asker, question, refuses, says_either, scripted
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import Script

LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])
HEADER = {"signalbox_allow_loop_header": True}


def _broke(affords: int) -> Script:
    return refuses(402, f"This request requires more credits. You asked for 16384, but can only afford {affords}.")


def test_f01_the_wait_of_a_rate_limit_is_in_the_body_in_milliseconds(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """The run waits exactly until the reset, and is answered."""
    observed = ask_sim("openai/sim-quirk-f01")
    assert (observed.status, observed.statuses) == (("complete", None), [429, 200, 200])
    [retry] = no_waiting
    assert 0.0 < retry.wait <= 0.5


def test_f01_retry_after_is_honoured(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """The Retry-After header, in seconds, is the delay."""
    observed = ask_sim("openai/sim-quirk-f01-header")
    assert (observed.status, observed.statuses) == (("complete", None), [429, 200, 200])
    assert [retry.wait for retry in no_waiting] == [1.0]


def test_f01_the_attempts_have_an_end_and_the_client_hears_when(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """There are three attempts; `retry_after` passes the delay on."""
    observed = ask_sim("openai/sim-quirk-f01-always")
    assert (observed.status, observed.statuses) == (("error", "RATE_LIMIT"), [429] * 3)
    assert 0.0 < observed.heard.done["retry_after"] <= 0.5
    assert observed.heard.done["retryable"] is True


def test_f01_a_limit_per_day_is_not_asked_again(ask_sim: Asker) -> None:
    """A delay of five hours is reported instead of waited for."""
    observed = ask_sim("openai/sim-quirk-f01-day")
    assert (observed.status, observed.statuses) == (("error", "RATE_LIMIT"), [429])
    assert observed.heard.done["retry_after"] == pytest.approx(18_000, rel=0.01)
    assert observed.heard.done["retryable"] is False
    assert "in about 5 hours." in observed.heard.done["error"]


@pytest.mark.parametrize(
    ("quirk", "status"), [("f02", "error"), ("f02-cut", "interrupted"), ("f02-tool", "error"), ("e01", "error")]
)
def test_f02_nothing_is_asked_again_behind_what_was_shown(
    ask_sim: Asker, no_waiting: list[Retry], quirk: str, status: str
) -> None:
    """After visible text V2 does not retry; the legacy loop has shown nothing and may. Nothing is repeated."""
    observed = ask_sim(f"openai/sim-quirk-{quirk}")
    if ask_sim.loop == "v2":
        assert (observed.status[0], observed.statuses) == (status, [200])
        assert observed.heard.done["retryable"] is True
        assert no_waiting == []
    assert observed.heard.text.count("This is the beginning") <= 1
    assert observed.heard.text.count("Here is what I found") <= 1
    assert len(observed.heard.of("tool_result")) == len({event["id"] for event in observed.heard.of("tool_result")})
    assert observed.heard.result_codes() in ([], [None], ["STEP_FAILED"])


def test_f02_before_anything_is_shown_it_is_asked_again(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """An error as the first chunk is retried, and the trace numbers both attempts."""
    observed = ask_sim("openai/sim-quirk-e01-once")
    assert observed.status == ("complete", None)
    assert observed.statuses == [200, 200, 200]
    attempts = observed.trace(ask_sim.app)["attempts"]
    assert [(attempt["step"], attempt["number"]) for attempt in attempts] == [(1, 1), (1, 2), (2, 1)]
    assert len(no_waiting) == 1


def test_f03_what_the_account_affords_is_asked_for_once(ask_sim: Asker) -> None:
    """max_tokens is clamped below the affordable limit for the rest of the run, with a warning."""
    observed = ask_sim("openai/sim-afford-500")
    assert (observed.status, observed.statuses) == (("complete", None), [402, 200, 200])
    assert [body.get("max_tokens") for body in observed.requests] == [None, 475, 475]
    assert observed.heard.warnings == ["CREDIT_CLAMP"]


def test_f03_a_smaller_cap_of_the_callers_stays(ask_sim: Asker) -> None:
    """A smaller max_tokens of the client stays unchanged."""
    observed = ask_sim("openai/sim-afford-500", "Hello!", max_tokens=300)
    assert observed.status == ("complete", None)
    assert [body["max_tokens"] for body in observed.requests] == [300]


@LOOPS
@pytest.mark.parametrize(("affords", "asked"), [(0, 1), (150, 1), (500, 2)])
def test_f03_useless_credits_end_the_run(start_app: StartApp, loop: str, affords: int, asked: int) -> None:
    """Nothing is clamped if no useful limit is affordable; there is no second clamp and no delay."""
    app, upstream = start_app(_broke(affords), settings=HEADER)
    observed = scripted(app, upstream.asked, loop)
    assert observed.status == ("error", "UPSTREAM_CREDITS")
    assert len(observed.requests) == asked
    assert observed.heard.done.get("retryable", False) is False


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_f05_what_cannot_succeed_is_asked_once(ask_sim: Asker, no_waiting: list[Retry], status: int) -> None:
    """Permanent errors are not retried."""
    observed = ask_sim(f"openai/sim-error-{status}")
    assert (observed.status[0], observed.statuses) == ("error", [status])
    assert no_waiting == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_f05_what_may_succeed_is_asked_three_times(ask_sim: Asker, no_waiting: list[Retry], status: int) -> None:
    """Temporary errors are retried with a growing delay, or the provider's."""
    observed = ask_sim(f"openai/sim-error-{status}")
    assert (observed.status[0], observed.statuses) == ("error", [status] * 3)
    assert observed.heard.done["retryable"] is True
    first, second = (retry.wait for retry in no_waiting)
    assert 0.0 <= first <= second <= 10.0


@pytest.mark.parametrize(("quirk", "asked"), [("e01-first", 3), ("e01-429", 1)])
def test_f05_an_error_in_a_200_is_judged_by_its_code(
    ask_sim: Asker, no_waiting: list[Retry], quirk: str, asked: int
) -> None:
    """An error in a 200 is handled like the same status."""
    observed = ask_sim(f"openai/sim-quirk-{quirk}")
    assert observed.status[0] == "error"
    assert len(observed.requests) >= asked


def test_f06_another_model_only_when_it_was_asked_for(ask_sim: Asker, no_waiting: list[Retry]) -> None:
    """Without `models` there is no fallback: the model's error is reported."""
    observed = ask_sim("openai/sim-error-503")
    assert observed.status == ("error", "UPSTREAM_OVERLOADED")
    assert not [body for body in observed.requests if {"models", "route"} & body.keys()]
    assert observed.heard.done["requested_model"] == "openai/sim-error-503"


def test_f06_a_fallback_is_shown(ask_sim: Asker) -> None:
    """With `models`, the run shows the requested model, the answering one, and its provider."""
    observed = ask_sim("openai/sim-error-503", question(), models=["anthropic/sim"])
    assert observed.status == ("complete", None)
    assert {str(body["models"]) for body in observed.requests} == {"['anthropic/sim']"}
    done: dict[str, Any] = observed.heard.done
    assert (done["requested_model"], done["model"], done["provider"]) == (
        "openai/sim-error-503",
        "anthropic/sim",
        "Anthropic",
    )


@LOOPS
def test_f06_a_host_that_serves_another_model_is_shown(start_app: StartApp, loop: str) -> None:
    """`model` is the name that the upstream returns, also without a requested fallback."""
    app, upstream = start_app(says_either("Hello."), settings=HEADER)
    observed = scripted(app, upstream.asked, loop, model="openai/gpt-4o", tools=[])
    assert (observed.heard.done["requested_model"], observed.heard.done["model"]) == ("openai/gpt-4o", "openai/sim")
