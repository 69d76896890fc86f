"""Prices of an entry in OpenRouter's list."""

from typing import Any

import pytest
from signalbox.core.catalog import Prices
from signalbox.wire.openrouter.catalog import facts_of


@pytest.mark.parametrize(
    ("pricing", "prices"),
    [
        ({"prompt": "0.1", "completion": "0.2"}, Prices(0.1, 0.2)),
        (
            {"prompt": "0.1", "completion": "0.2", "input_cache_read": "0.01", "input_cache_write": "0.3"},
            Prices(0.1, 0.2, 0.01, 0.3),
        ),
        ({"prompt": "0.1", "completion": "0.2", "input_cache_read": "-1", "input_cache_write": "?"}, Prices(0.1, 0.2)),
        ({"prompt": "-1", "completion": "-1"}, None),
        ({"prompt": "0.1"}, None),
        (None, None),
    ],
    ids=["two prices", "cached tokens", "unreadable prices of cached tokens", "router", "incomplete", "none"],
)
def test_prices_are_typed(pricing: Any, prices: Prices | None) -> None:
    """A price that is negative or not a number counts as absent."""
    facts = facts_of({"id": "acme/model", "pricing": pricing})
    assert facts is not None
    assert facts.prices == prices
