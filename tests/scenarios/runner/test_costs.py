"""What a run has cost: as the upstream reports it, or else by the prices that the program has given."""

from typing import Any

import pytest
from signalbox import RequestError, RunError, Runner, Upstream, user

from tests.scenarios.runner.model import Model, answers, calls, model_that
from tests.scenarios.runner.test_messages import LOOK, Counter

pytestmark = pytest.mark.anyio
# Each scripted reply has 10 tokens of prompt and 5 of completion.
PRICES = {"cheap": (1_000, 2_000), "dear": (10_000, 20_000), "output only": (0, 2_000)}


def without_costs(model: Model, prices: Any = None) -> Upstream:
    """Return the scripted model as a server that reports no costs."""
    return Upstream(model.server.base_url, dialect="openai-chat", prices=prices)


async def test_prices_count_where_no_cost_is_reported() -> None:
    """Each step costs what its own model costs; the answer says that it is an estimate."""
    with model_that(answers("One."), answers("Two.")) as model:
        run = Runner(without_costs(model, PRICES), "cheap", "Count.")
        async for step in run:
            if step.number == 1:
                assert run.cost == 0.02
                run.set(model="dear")
                run.append(user("Go on."))
        answer = await run.answer()
    assert (answer.cost, answer.cost_estimated) == (0.22, True)


async def test_a_reported_cost_precedes_prices() -> None:
    """A reported cost is exact, so it is no estimate."""
    with model_that(answers("One.", cost=0.5)) as model:
        answer = await Runner(without_costs(model, PRICES), "cheap", "Count.").answer()
    assert (answer.cost, answer.cost_estimated) == (0.5, False)


async def test_an_unreported_cost_is_marked() -> None:
    """Without prices the cost is 0, and the answer says that something is missing."""
    with model_that(answers("One.")) as model:
        answer = await Runner(without_costs(model), "free", "Count.").answer()
    assert (answer.cost, answer.cost_estimated) == (0.0, True)


async def test_a_limit_acts_by_prices() -> None:
    """The second model call is not made, because the first one has used up the limit."""
    counter = Counter()
    with model_that(calls(LOOK), answers("Done.")) as model:
        run = Runner(without_costs(model, PRICES), "output only", "Look.", tools=[counter.tool], max_cost=0.01)
        with pytest.raises(RunError, match="cost limit") as failed:
            await run.answer()
        assert len(model.requests) == 1
    assert (failed.value.code, failed.value.answer.cost) == ("BUDGET_REACHED", 0.01)


async def test_a_limit_that_could_never_act_is_rejected() -> None:
    """Without reported costs and prices, `max_cost` is an error that names both; so is a change to such a model."""
    with model_that() as model:
        upstream = without_costs(model, PRICES)
        with pytest.raises(RequestError, match="reports no costs, and its `prices` have no 'other'") as wrong:
            Runner(upstream, "other", "Hi.", max_cost=1)
        assert wrong.value.field == "max_cost"
        run = Runner(upstream, "cheap", "Hi.", max_cost=1)
        with pytest.raises(RequestError, match="no 'other'"):
            run.set(model="other", max_tokens=5)
        Runner(model.upstream, "other", "Hi.", max_cost=1)  # this dialect reports costs


@pytest.mark.parametrize("wrong", [3, (1,), (1, -1), ("1", "2"), None])
def test_prices_are_pairs(wrong: Any) -> None:
    """Anything else is rejected, and the error names the model."""
    with pytest.raises(RequestError, match="prices: expected a pair of USD per million tokens for 'cheap'"):
        Upstream("openai", "sk-test", prices={"cheap": wrong})


@pytest.mark.parametrize(
    "limit", [{"max_cost": float("nan")}, {"max_cost": -1}, {"max_steps": 1.5}, {"max_steps": float("inf")}]
)
async def test_a_limit_that_could_not_limit_is_refused(limit: dict[str, Any]) -> None:
    """The error names the parameter, and no request is sent."""
    with model_that(answers("Ok.")) as model:
        with pytest.raises(RequestError) as wrong:
            Runner(model.upstream, "m", "Hi.", **limit)
        assert [wrong.value.field] == [*limit]
        assert not model.server.asked
