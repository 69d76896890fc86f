"""Which messages the simulator takes for shopping, and what it answers about products."""

import json
from typing import Any

import pytest
from signalbox.simulator.model.tool_results import read_result
from signalbox.simulator.model.turns import Call
from signalbox.simulator.products import found_products

from tests.unit.simulator.requests import TOOLS, tool
from tests.unit.simulator.test_model import turn

SHOP = tool(
    "search_products",
    ["query"],
    query="string",
    limit="integer",
    min_price="number",
    max_price="number",
    condition="string",
    sort="string",
)


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        ("find me a red mug under 20 dollars", {"query": "red mug", "max_price": 20}),
        ("Find a red mug under $20", {"query": "red mug", "max_price": 20}),
        ("show me used headphones below €59.90", {"query": "headphones", "max_price": 59.9, "condition": "used"}),
        ("I want to buy a tent", {"query": "tent"}),
        ("find the cheapest backpack", {"query": "backpack", "sort": "price_asc"}),
        (
            "Show me three products for coffee between 10 and 30 dollars",
            {"query": "coffee", "min_price": 10, "max_price": 30, "limit": 3},
        ),
        ("find a lamp for more than 1,000 yen", {"query": "lamp", "min_price": 1000}),
    ],
)
def test_shopping_calls_the_product_search(question: str, arguments: dict[str, Any]) -> None:
    """With the bounds, the condition, the order and the number that the message names."""
    assert turn(question, tools=[SHOP, *TOOLS]).calls == (Call("search_products", arguments),)


@pytest.mark.parametrize("question", ["How do tool calls stream?", "Find out how a run under 20 steps ends"])
def test_other_questions_search_the_web(question: str) -> None:
    """Although the product search comes first among the tools."""
    assert [call.name for call in turn(question, tools=[SHOP, *TOOLS]).calls] == ["search_web"]


def test_the_answer_names_the_cheapest() -> None:
    """People see the table, so the text does not repeat it."""
    products = [
        {"title": "Red mug", "price": 12.5, "currency": "USD", "url": "/red"},
        {"title": "Old mug", "price": 7, "currency": "USD", "url": "/old"},
    ]
    found = read_result(json.dumps({"products": products, "notice": "Invented."}))
    assert found_products(found, "mug") == (
        "I found 2 products for **mug**. The cheapest is [Old mug](/old) for 7.00 USD."
    )
    assert found_products(read_result('{"products": []}'), "mug") == "I found no products for **mug**."
    assert "slow" in found_products(read_result('{"error": "The shop is slow.", "code": "TIMEOUT"}'), "mug")
