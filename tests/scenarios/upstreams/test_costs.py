"""Costs at upstreams that report only tokens: computed by the prices of the upstream that answered, or absent."""

import json
from typing import Any

import pytest

from tests.scenarios.upstreams.conftest import Serve
from tests.scenarios.upstreams.two_upstreams import FILE, MODEL, TwoUpstreams
from tests.support.running_app import error_of
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, chunk, says, sends

TOKENS = {"prompt_tokens": 1_000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
PRICED = FILE.replace(
    'key = "env:FIRST_KEY"\n',
    'key = "env:FIRST_KEY"\nprices = {{ "acme/model" = {{ prompt = 10, completion = 50, cached = 1 }} }}\n',
)
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


def says_with(usage: dict[str, Any]) -> Script:
    """Make a script that answers and reports this usage."""
    return sends(chunk({"content": "Hi."}), chunk({}, finish="stop", usage=usage) + DONE)


def costs_of(two: TwoUpstreams, done: dict[str, Any], run_id: str) -> list[tuple[Any, Any]]:
    """Return cost and mark, as `done`, the trace and the list of runs have them."""
    trace = two.app.client.get(f"/api/runs/{run_id}").json()
    listed = two.app.client.get("/api/runs").json()["runs"][0]
    return [(one.get("cost"), bool(one.get("cost_estimated"))) for one in (done, trace, listed)]


def test_the_cost_is_computed_from_the_prices_of_the_file(serve: Serve) -> None:
    """600 tokens at 10, 400 cached ones at 1 and 100 of output at 50 dollars per million; marked everywhere."""
    two = serve([says_with(TOKENS)], [says("Never.")], file=PRICED)
    heard = two.ask(tools=[])
    assert costs_of(two, heard.done, heard.events[0]["run_id"]) == [(0.0114, True)] * 3
    (attempt,) = two.trace(heard)["attempts"]
    assert (attempt["usage"]["cost"], attempt["cost_estimated"]) == (0.0114, True)


@LOOPS
def test_every_step_is_computed(serve: Serve, loop: str) -> None:
    """Both loops, streamed and whole replies."""

    async def calls(exchange: Exchange) -> None:
        function = {"name": "calculate", "arguments": '{"expression":"1+1"}'}
        if exchange.asked.body.get("stream"):
            await exchange.head()
            await exchange.send(call_chunk("calculate", function["arguments"]))
            await exchange.send(chunk({}, finish="tool_calls", usage=TOKENS) + DONE)
            return
        call = {"id": "c", "type": "function", "function": function}
        message = {"role": "assistant", "content": "", "tool_calls": [call]}
        choice = {"message": message, "finish_reason": "tool_calls"}
        await exchange.whole(200, json.dumps({"choices": [choice], "usage": TOKENS}).encode())

    async def answers(exchange: Exchange) -> None:
        if exchange.asked.body.get("stream"):
            await says_with(TOKENS)(exchange)
            return
        choice = {"message": {"role": "assistant", "content": "2."}, "finish_reason": "stop"}
        await exchange.whole(200, json.dumps({"choices": [choice], "usage": TOKENS}).encode())

    two = serve([calls, answers], [says("Never.")], file=PRICED, settings={"tool_loop_v2": loop == "v2"})
    heard = two.ask(tools=["calculate"])
    assert heard.done["status"] == "complete"
    assert (heard.done["cost"], heard.done["cost_estimated"]) == (0.0228, True)


def test_without_a_price_the_cost_is_absent(serve: Serve) -> None:
    """The tokens are reported; a cost of 0 would be wrong."""
    two = serve([says_with(TOKENS)], [says("Never.")])
    heard = two.ask(tools=[])
    assert heard.done["usage"]["input"] == 1_000
    assert costs_of(two, heard.done, heard.events[0]["run_id"]) == [(None, False)] * 3


def test_a_reported_cost_is_not_computed(serve: Serve) -> None:
    """OpenRouter's upstream reports what it charges."""
    two = serve([says("Never.")], [says_with({**TOKENS, "cost": 0.5})], file=PRICED)
    heard = two.ask(model=f"second@{MODEL}", tools=[])
    assert (heard.done["cost"], heard.done.get("cost_estimated")) == (0.5, None)


def test_prices_of_the_list_count_from_the_first_run_on(serve: Serve) -> None:
    """The first run of a new server fetches the list and uses its prices."""

    async def lists_prices(exchange: Exchange) -> None:
        entry = {"id": "first-model", "pricing": {"prompt": "0.00001", "completion": "0.00005"}}
        await exchange.whole(200, json.dumps({"data": [entry]}).encode())

    two = serve([says_with(TOKENS)], [says("Never.")], models=lists_prices)
    assert two.ask(tools=[]).done["cost"] == 0.015


# --- a cost limit ---


def test_a_cost_limit_without_a_price_is_rejected(serve: Serve) -> None:
    """It could never act, and the message says how to add a price."""
    two = serve([says("Never.")], [says("Never.")])
    response = two.app.post(model=MODEL, prompt="Hello!", max_cost=1.0)
    assert response.status_code == 422
    error = error_of(response)
    assert (error["code"], error["field"]) == ("INVALID_REQUEST", "max_cost")
    assert error["message"].startswith(
        "max_cost cannot limit this run. The upstream \"first\" reports no costs, and the price of 'acme/model' is not "
        "known. Add the model to the upstream's prices in upstreams.toml, or leave out max_cost."
    )
    assert two.asked() == (0, 0)


def test_a_cost_limit_acts_by_a_price_or_by_reported_costs(serve: Serve) -> None:
    """A price of the file limits the stream; an upstream that reports costs needs none."""

    async def talks(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send_text("x" * 4_000)
        await exchange.client_left()

    two = serve([talks], [says("Hi.")], file=PRICED)
    limited = two.ask(tools=[], max_cost=0.02)
    assert (limited.done["status"], limited.done["code"]) == ("interrupted", "BUDGET_REACHED")
    assert two.ask(model=f"second@{MODEL}", tools=[], max_cost=1.0).done["status"] == "complete"


def test_the_operators_limit_rejects_no_model(serve: Serve) -> None:
    """SIGNALBOX_MAX_RUN_COST applies where costs are known; a free model in the network stays usable."""
    two = serve([says("Hi.")], [says("Never.")], settings={"signalbox_max_run_cost": 1.0})
    assert two.ask(tools=[]).done["status"] == "complete"


def test_a_budget_without_a_price_is_rejected(serve: Serve) -> None:
    """It could never act: nothing is sent, and the message says what to do."""
    two = serve([says("Never.")], [says("Never.")], settings={"signalbox_admin_token": "operator-operator"})
    made = two.app.client.post(
        "/api/tokens", json={"name": "Ada", "budget_day": 5}, headers={"authorization": "Bearer operator-operator"}
    )
    headers = {"authorization": f"Bearer {made.json()['token']}"}
    response = two.app.client.post("/api/chat/stream", json={"model": MODEL, "prompt": "Hello!"}, headers=headers)
    assert response.status_code == 422
    error = error_of(response)
    assert (error["code"], error["field"]) == ("INVALID_REQUEST", "model")
    assert error["message"].startswith('A budget applies, but the upstream "first" reports no costs, and the price of')
    assert two.asked() == (0, 0)
