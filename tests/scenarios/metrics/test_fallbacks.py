"""Metrics of upstreams and models that answer in place of others, and of upstreams that a reload removes."""

import json
from collections.abc import Callable
from time import time

import httpx
import pytest
from signalbox.chat.loops.retry import Retry
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.services.upstreams.circuit_breaker import FAILURES, SECONDS
from structlog.testing import capture_logs

from tests.scenarios.access.users import bearer
from tests.scenarios.tool_loop.script import fails
from tests.scenarios.upstreams.conftest import serve  # noqa: F401 - a fixture
from tests.scenarios.upstreams.two_upstreams import FILE, MODEL, TwoUpstreams
from tests.support.fixtures import StartApp
from tests.support.metrics import Scrape
from tests.support.scripted_upstream import DONE, Script, chunk, says, sends

TOKEN, ADMIN = "the-token-of-prometheus", "operator-operator"
METRICS = {"signalbox_metrics_token": TOKEN, "signalbox_admin_token": ADMIN}
LISTED = {**METRICS, "signalbox_metrics_models": "openai/sim,anthropic/other"}
Serve = Callable[..., TwoUpstreams]


def scrape(client: httpx.Client) -> Scrape:
    """Scrape with the token."""
    return Scrape(client.get("/metrics", headers=bearer(TOKEN)).raise_for_status().text)


def answers_as(model: str, cost: float = 0.002) -> Script:
    """Make a script whose answer names this model."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "cost": cost}
    return sends(chunk({"content": "Hi."}, model=model) + chunk({}, finish="stop", model=model, usage=usage) + DONE)


def test_a_fallback_is_counted_at_the_upstream_that_failed(
    serve: Serve,  # noqa: F811
    no_waiting: list[Retry],
) -> None:
    """The run belongs to the upstream that answered."""
    two = serve([fails(401)], [says("Hi.")], settings=METRICS)
    two.ask()
    found = scrape(two.app.client)
    assert found.labels("fallbacks_total") == [{"kind": "upstream", "upstream": "first", "code": "UPSTREAM_AUTH"}]
    assert found.total("retries_total", upstream="first", code="UPSTREAM_AUTH") == 1
    assert found.total("runs_total", upstream="second", code="ok") == 1
    assert {labels["upstream"] for labels in found.labels("upstream_available")} == {"first", "second"}


def test_an_upstream_that_is_skipped_is_counted(
    serve: Serve,  # noqa: F811
    no_waiting: list[Retry],
) -> None:
    """Two runs open its circuit breaker; the third begins at the other one."""
    two = serve([fails(503)], [says("Hi.")], settings={**METRICS, "signalbox_log_level": "debug"})
    for _ in range(2):
        two.ask(tools=[])
    assert scrape(two.app.client).total("fallbacks_total", kind="skipped") == 0
    with capture_logs() as lines:
        two.ask(tools=[])
    found = scrape(two.app.client)
    skipped = {"kind": "skipped", "upstream": "first", "code": "none"}
    assert skipped in found.labels("fallbacks_total")
    assert found.total("fallbacks_total", **skipped) == 1
    assert [line["upstreams"] for line in lines if line["event"] == "run.upstreams_skipped"] == [["first"]]


def test_an_upstream_is_unavailable_until_it_answers(
    serve: Serve,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also after the pause of its circuit breaker, while no request probes it."""
    two = serve([says("Hi.")], [says("Hi.")], settings=METRICS)
    breaker = two.app.parts.upstreams.servers[0].breaker

    def available() -> float:
        return scrape(two.app.client).total("upstream_available", upstream="first")

    for _ in range(FAILURES):
        breaker.record(UpstreamError(Code.UPSTREAM_UNREACHABLE))
    assert (breaker.state, available()) == ("open", 0)
    monkeypatch.setattr(breaker, "_clock", lambda: time() + 2 * SECONDS)
    assert (breaker.state, available()) == ("half_open", 0)
    assert two.ask(tools=[]).done["upstream"] == "first"
    assert (breaker.state, available()) == ("closed", 1)


@pytest.mark.parametrize("loop", [True, False])
def test_a_model_that_answers_in_place_of_another_is_counted(start_app: StartApp, *, loop: bool) -> None:
    """The run, its attempt, its tokens and its cost have the labels of the model that answered."""
    app, _ = start_app(answers_as("anthropic/other-20260807"), settings={**LISTED, "tool_loop_v2": loop})
    with capture_logs() as lines:
        app.ask(model="openai/sim", models=["anthropic/other"], tools=[], stream=True)
    found = scrape(app.client)
    assert found.labels("fallbacks_total") == [{"kind": "model", "upstream": "default", "code": "none"}]
    answered = {"family": "anthropic", "upstream": "default"}
    for name in ("runs_total", "cost_usd_total", "tokens_total"):
        assert [labels for labels in found.labels(name) if labels["model"] != "anthropic/other"] == []
        assert found.total(name, **answered) > 0, name
    assert found.total("attempts_total", **answered, code="ok") == 1
    assert found.total("time_to_first_token_seconds_count", **answered) == 1
    (end,) = [line for line in lines if line["event"] == "run.finished"]
    assert (end["model"], end["fallback_model"]) == ("openai/sim", "anthropic/other")


def test_the_requested_model_under_another_name_is_no_fallback(
    serve: Serve,  # noqa: F811
) -> None:
    """Neither a longer id, nor the id that the upstream has for it."""
    file = FILE.replace('["first", "second"]', '["second"]')
    two = serve([], [answers_as("vendor/second-model-20260807")], file=file, settings=METRICS)
    two.ask(tools=[], models=["anthropic/other"])
    found = scrape(two.app.client)
    assert found.labels("fallbacks_total") == []
    assert found.total("runs_total", family="anthropic") == 0


def test_an_answer_that_the_credit_shortens_is_a_degradation(start_app: StartApp) -> None:
    """It is counted as a clamp, too."""
    words = "This request requires more credits, or fewer max_tokens. You requested up to 900 tokens, but can only "
    error = {"error": {"code": 402, "message": f"{words}afford 500."}}
    refused = sends(json.dumps(error).encode(), status=402, kind="application/json")
    app, _ = start_app(refused, says("Hi."), settings=METRICS)
    app.ask(tools=[], max_tokens=900)
    found = scrape(app.client)
    for name in ("clamps_total", "degradations_total"):
        assert found.labels(name) == [{"code": "CREDIT_CLAMP"}], name


def test_an_upstream_that_a_reload_removes_disappears(serve: Serve) -> None:  # noqa: F811
    """Its last value would otherwise stay until the next start."""
    two = serve([says("Hi.")], [says("Hi.")], settings=METRICS)
    assert [one["upstream"] for one in scrape(two.app.client).labels("upstream_available")] == ["first", "second"]
    text = two.file.read_text("utf-8")
    begin, end = text.index('[[upstream]]\nname = "first"'), text.index('[[upstream]]\nname = "second"')
    two.file.write_text((text[:begin] + text[end:]).replace('["first", "second"]', '["second"]'), "utf-8")
    reloaded = two.app.client.post("/api/upstreams/reload", headers=bearer(ADMIN))
    assert reloaded.status_code == 200, reloaded.text
    assert [one["upstream"] for one in scrape(two.app.client).labels("upstream_available")] == ["second"]
    assert two.ask(model=MODEL).done["upstream"] == "second"
