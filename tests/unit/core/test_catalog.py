"""Prices: the cost of a model call by its tokens."""

import pytest
from signalbox.core.catalog import Prices
from signalbox.core.parts import Usage

USAGE = Usage(input=1_000, output=100, reasoning=40, cached=600, cache_written=300)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        (Prices(0.01, 0.05), 15.0),
        (Prices(0.01, 0.05, cached=0.001), 9.6),
        (Prices(0.01, 0.05, cached=0.0, cache_written=0.02), 12.0),
        (Prices(0.0, 0.0), 0.0),
    ],
    ids=["one price for the prompt", "cached", "cached and cache-written", "free"],
)
def test_cached_tokens_cost_their_price(prices: Prices, cost: float) -> None:
    """Tokens of the cache are part of the prompt, and hidden reasoning is part of the output."""
    assert prices.cost_of(USAGE) == cost


def test_more_cached_tokens_than_the_prompt_has_cost_nothing_extra() -> None:
    """A contradictory report lowers no cost below that of the cached tokens."""
    assert Prices(0.01, 0.0, cached=0.001).cost_of(Usage(input=10, cached=20)) == 0.02
