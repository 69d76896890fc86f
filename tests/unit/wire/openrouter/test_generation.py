"""OpenRouter's record of a generation as a bill."""

from typing import Any

import pytest
from signalbox.core.parts import Bill, Usage
from signalbox.wire.openrouter.generation import bill_of

FULL: dict[str, Any] = {
    "id": "gen-1",
    "model": "anthropic/claude-sonnet-4.6",
    "provider_name": "Amazon Bedrock",
    "total_cost": 0.0055,
    "usage": 0.0054,
    "tokens_prompt": 17000,
    "tokens_completion": 100,
    "native_tokens_prompt": 18054,
    "native_tokens_completion": 120,
    "native_tokens_reasoning": 30,
    "native_tokens_cached": 18041,
    "cancelled": True,
}


def test_a_full_record() -> None:
    """Native counts and the total cost are those of a stream's usage chunk."""
    usage = Usage(input=18054, output=120, reasoning=30, cached=18041, cost=0.0055)
    assert bill_of({"data": FULL}) == Bill(usage, "anthropic/claude-sonnet-4.6", "Amazon Bedrock", cancelled=True)


@pytest.mark.parametrize(
    ("data", "usage"),
    [
        ({"usage": 0.25}, Usage(cost=0.25)),
        ({"total_cost": None, "usage": 1}, Usage(cost=1.0)),
        ({"total_cost": 0, "usage": 1}, Usage(cost=0.0)),
        ({"tokens_prompt": 3, "tokens_completion": 4}, Usage(input=3, output=4)),
        ({"native_tokens_prompt": 0, "tokens_prompt": 3}, Usage()),
        ({"native_tokens_completion": None, "tokens_completion": 4}, Usage(output=4)),
        ({"total_cost": -1, "tokens_prompt": True, "tokens_completion": 4}, Usage(output=4)),
        ({"total_cost": "0.1", "tokens_prompt": 2**60, "tokens_completion": 4}, Usage(output=4)),
    ],
)
def test_records_with_missing_numbers(data: dict[str, Any], usage: Usage) -> None:
    """An absent, null or invalid number falls back to the other field, then to none."""
    assert bill_of({"data": data}) == Bill(usage)


@pytest.mark.parametrize(
    "data", [{}, {"id": "gen-1", "model": "a/b"}, {"total_cost": float("nan")}, {"usage": None, "tokens_prompt": "3"}]
)
def test_a_record_without_figures_is_no_bill_yet(data: dict[str, Any]) -> None:
    """A record that is still being written settles nothing."""
    assert bill_of({"data": data}) is None
