"""A reply is measured by the prices of the model that answers, once it is known."""

import pytest
from signalbox.chat.budget import Budget, BudgetReached, metered
from signalbox.chat.loops.progress import Progress
from signalbox.core.catalog import Prices
from signalbox.core.messages import UserMessage
from signalbox.core.params import Params
from signalbox.core.parts import Request, Served, StreamPart, TextDelta

from tests.support.fakes import ScriptedClient, ending

pytestmark = pytest.mark.anyio
CHEAP, DEAR = "openai/sim", "anthropic/dear"
ASK = Request(CHEAP, (UserMessage("Four"),), params=Params(fallbacks=(DEAR,)))


def budget_of(limit: float) -> Budget:
    """Return a budget for both models: prompts and answers have one price."""
    budget = Budget(limit)
    budget.use_prices({CHEAP: Prices(0.0001, 0.0001), DEAR: Prices(0.01, 0.01)})
    return budget


async def measured(budget: Budget, *reads: list[StreamPart]) -> float:
    """Read a reply; return what it cost by estimate, with 400 letters and a prompt of 4."""
    progress = Progress()
    progress.begin_attempt(ASK, 1, final=False)
    client = metered(ScriptedClient(reads), budget, progress)
    await client.stream(ASK, lambda _: None)
    return budget.estimates[0]


async def test_until_it_is_known_the_dearest_counts() -> None:
    """Of the prompt and of the text."""
    budget = budget_of(0.5)
    with pytest.raises(BudgetReached):
        await measured(budget, [TextDelta("word" * 100)])
    assert budget.estimates == [pytest.approx(1.01)]


@pytest.mark.parametrize(("model", "cost"), [(CHEAP, 0.0101), (f"{DEAR}-20260807", 1.01)])
async def test_the_model_that_answers_counts(model: str, cost: float) -> None:
    """Of the prompt, too."""
    found = await measured(budget_of(5), [Served("gen-1", model)], [TextDelta("word" * 100)], ending())
    assert found == pytest.approx(cost)


async def test_a_whole_answer_counts_by_its_model() -> None:
    """It names the model with its text."""
    progress, budget = Progress(), budget_of(5)
    progress.begin_attempt(ASK, 1, final=False)
    client = metered(ScriptedClient([[Served("gen-1", CHEAP), TextDelta("word" * 100)]]), budget, progress)
    await client.complete(ASK)
    assert budget.estimates == [pytest.approx(0.0101)]
