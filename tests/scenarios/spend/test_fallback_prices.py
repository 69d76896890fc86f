"""A run with fallback models reserves by the dearest of them; the one that answers is paid."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.scenarios.access.users import bearer
from tests.scenarios.spend.test_limits import ADMIN, App
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import DONE, Exchange, Script, chunk, holds, sends

CHEAP, DEAR, UNKNOWN = "openai/sim", "anthropic/dear", "acme/unpriced"
LOOPS = pytest.mark.parametrize("loop", [True, False])
Start = Callable[..., App]


def lists() -> Script:
    """Make a catalogue whose models cost nothing but an amount per token of output."""
    prices = {CHEAP: "0.0001", DEAR: "0.01", UNKNOWN: None}
    entries = [
        {"id": model, "pricing": {"prompt": "0", "completion": price} if price else None}
        for model, price in prices.items()
    ]
    return sends(json.dumps({"data": entries}).encode(), kind="application/json")


@pytest.fixture
def start(start_app: StartApp) -> Start:
    """Serve an app with a cheap and a dear model, and a token with a budget."""

    def started(*scripts: Script, budget_day: float, **settings: Any) -> App:
        given = {"signalbox_admin_token": ADMIN, **settings}
        return App(*start_app(*scripts, models=lists(), settings=given), budget_day=budget_day)

    return started


def answers_as(model: str, text: str) -> Script:
    """Make a script whose answer names a model, and reports no cost."""

    async def script(exchange: Exchange) -> None:
        usage = {"prompt_tokens": 10, "completion_tokens": 100}
        if exchange.asked.body.get("stream"):
            await exchange.head()
            await exchange.send(chunk({"content": text}, model=model))
            await exchange.send(chunk({}, finish="stop", model=model, usage=usage) + DONE)
            await exchange.raw(b"0\r\n\r\n")
            return
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = {"id": "gen-1", "model": model, "choices": [choice], "usage": usage}
        await exchange.whole(200, json.dumps(body).encode())

    return script


@pytest.mark.parametrize(
    ("models", "reserved"),
    [([], 0.01), ([DEAR], 1.0), ([DEAR, CHEAP], 1.0), ([UNKNOWN], 0.05), ([UNKNOWN, DEAR], 1.0)],
)
def test_the_dearest_model_is_reserved(start: Start, models: list[str], reserved: float) -> None:
    """For an answer of 100 tokens; a model without a known price reserves as if it were alone."""
    app = start(holds, budget_day=5)
    asked: dict[str, Any] = {"models": models} if models else {}
    assert app.start(max_tokens=100, **asked) == 200
    active, *rest = app.reserved()
    assert (active, rest) == (1, [round(reserved * 10**9)] * 2)


def test_a_budget_for_the_cheap_model_is_refused_the_dear_one(start: Start) -> None:
    """Before anything is sent."""
    app = start(holds, budget_day=0.5)
    assert app.refusal(max_tokens=100, models=[DEAR])[1]["code"] == "BUDGET_EXHAUSTED"
    assert app.start(max_tokens=100) == 200


@LOOPS
@pytest.mark.parametrize(("answering", "cost"), [(CHEAP, 0.01), (f"{DEAR}-20260807", 1.0)])
def test_the_model_that_answers_is_paid(start: Start, answering: str, cost: float, *, loop: bool) -> None:
    """By its own price, if the upstream reports only tokens."""
    app = start(answers_as(answering, "Hi."), budget_day=5, tool_loop_v2=loop)
    assert app.post(max_tokens=100, models=[DEAR]).status_code == 200
    assert {*app.reserved()} == {0}
    total = app.app.client.get("/api/spend", headers=bearer(app.token["token"])).json()["total"]
    assert (total["runs"], total["cost"]) == (1, cost)


def test_a_stream_of_the_dear_model_is_measured_by_its_price(start: Start) -> None:
    """Half a dollar does not pay for 400 letters: the stream is closed."""

    async def talks(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(chunk({"content": "word" * 100}, model=DEAR))
        await exchange.client_left()

    app = start(talks, budget_day=50)
    body = app.post(max_cost=0.5, models=[DEAR], path="/api/chat").json()
    assert (body["status"], body["code"]) == ("interrupted", "BUDGET_REACHED")
