"""How much of its owner's budget a run reserves before it starts."""

from typing import NamedTuple

from signalbox.chat.context import ConversationContext

# Of an answer whose length the client does not limit. A longer answer reserves more while it streams.
OUTPUT_TOKENS = 2_048
# A run starts only if its budget has enough left for its prompt and a short answer.
LEAST_OUTPUT_TOKENS = 256
# Of a run whose price is known only after it, in USD.
UNPRICED = 0.05


class Estimate(NamedTuple):
    """What a run wants to reserve, and what it needs at least, in USD."""

    want: float
    need: float


async def open_budget(
    context: ConversationContext, max_cost: float | None, max_output: float | None, *, has_unpriced: bool = False
) -> Estimate:
    """Give a run a budget whose reservation can grow, and return what it reserves first.

    That is `max_cost` if the client limits the cost, else its prompt and an answer: `max_tokens` if the client limits
    its length, else OUTPUT_TOKENS. `max_output` is the longest answer of the models that may answer. With
    `has_unpriced`, the price of one of them is not known.
    """
    budget = context.budget
    assert budget is not None
    if budget.prices is None:
        want = min(UNPRICED if max_cost is None else max_cost, budget.limit)
        return Estimate(want, min(want, UNPRICED))
    asked = context.base_params.max_tokens
    budget.output_tokens = int(min(asked or OUTPUT_TOKENS, max_output or asked or OUTPUT_TOKENS))
    prompt = await budget.price_of_prompt(context.messages, context.offered)
    output = budget.prices.completion
    least = UNPRICED if has_unpriced else 0.0
    answer = max(prompt + budget.output_tokens * output, least)
    want = min(answer if max_cost is None else max_cost, budget.limit)
    need = max(prompt + min(budget.output_tokens, LEAST_OUTPUT_TOKENS) * output, least)
    return Estimate(want, min(want, need))
