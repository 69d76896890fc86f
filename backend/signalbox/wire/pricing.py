"""Shows prices to clients in the form of OpenRouter's catalogue, which `GET /api/models` has for every upstream."""

from signalbox.core.catalog import Prices
from signalbox.core.messages import JsonObject


def pricing_of(prices: Prices) -> JsonObject:
    """Return prices in this form: decimal text, USD per token."""
    listed = {
        "prompt": prices.prompt,
        "completion": prices.completion,
        "input_cache_read": prices.cached,
        "input_cache_write": prices.cache_written,
    }
    return {name: f"{price:.15f}".rstrip("0").rstrip(".") for name, price in listed.items() if price is not None}
