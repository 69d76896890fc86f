"""The product search: checked arguments, filtered products, a short list for models and a table for people."""

from typing import Any

import pytest
from signalbox.core.codes import Code
from signalbox.core.data_table import fault_of
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.products import Product, ProductQuery
from signalbox.core.tools import ToolContext, ToolOutcome
from signalbox.services.tool_executor import ToolExecutor
from signalbox.tools.search_products import search_key, search_products

from tests.support.product_sources import SHOP, FakeProducts, product

pytestmark = pytest.mark.anyio

MUGS = [
    product("Red mug", 12.5, image=f"{SHOP}/red.jpg", condition="new"),
    product("Cheap mug", 3, condition="used", label="Auction"),
    product("Gold mug", 900.0),
    product("Mug without a price"),
]


async def outcome_of(source: FakeProducts, **arguments: Any) -> ToolOutcome:
    """Check and run one call as a loop does."""
    executor = ToolExecutor([search_products(source, None)])
    given: JsonObject = {"query": "mug", **arguments}
    return executor.check("search_products", given) or await executor.run(
        "search_products", given, ToolContext(run_id="r1")
    )


def titles(outcome: ToolOutcome) -> list[str]:
    """Return the titles that the model got, which are those of the table."""
    assert isinstance(outcome.result, dict)
    assert isinstance(outcome.artifact, dict)
    listed: Any = outcome.result["products"]
    rows: Any = outcome.artifact["data"]
    assert [one["title"] for one in listed] == [row["name"] for row in rows]
    return [one["title"] for one in listed]


async def test_the_model_gets_a_short_list_and_people_a_table() -> None:
    """Numbers stay numbers; the table has images and formats, the list has neither."""
    outcome = await outcome_of(FakeProducts(MUGS[:2], notice="Invented."))
    assert outcome.result == {
        "query": "mug",
        "source": "fake",
        "notice": "Invented.",
        "products": [
            {"title": "Red mug", "price": 12.5, "currency": "USD", "url": f"{SHOP}/red-mug", "condition": "new"},
            {
                "title": "Cheap mug",
                "price": 3,
                "currency": "USD",
                "url": f"{SHOP}/cheap-mug",
                "condition": "used",
                "label": "Auction",
            },
        ],
    }
    table: Any = outcome.artifact
    assert fault_of(table) is None
    assert (table["surfaceId"], table["caption"]) == ("products-r1-1", "Products for “mug”. Invented.")
    assert {one["key"]: one.get("format", {}).get("kind") for one in table["columns"]} == {
        "image": "image",
        "name": "link",
        "price": "currency",
        "condition": "badge",
        "label": "badge",
    }
    assert table["data"][0] == {
        "name": "Red mug",
        "url": f"{SHOP}/red-mug",
        "price": 12.5,
        "currency": "USD",
        "image": f"{SHOP}/red.jpg",
        "condition": "new",
    }
    assert outcome.untrusted


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({}, ["Red mug", "Cheap mug", "Gold mug", "Mug without a price"]),
        ({"limit": 2}, ["Red mug", "Cheap mug"]),
        ({"max_price": 20}, ["Red mug", "Cheap mug"]),
        ({"min_price": 12.5}, ["Red mug", "Gold mug"]),
        ({"min_price": 5, "max_price": 20}, ["Red mug"]),
        ({"condition": "used"}, ["Cheap mug", "Gold mug", "Mug without a price"]),
        ({"sort": "price_asc"}, ["Cheap mug", "Red mug", "Gold mug", "Mug without a price"]),
        ({"sort": "price_desc", "limit": 1}, ["Gold mug"]),
        ({"limit": None, "max_price": None}, ["Red mug", "Cheap mug", "Gold mug", "Mug without a price"]),
    ],
)
async def test_bounds_and_order_hold_for_every_source(arguments: dict[str, Any], wanted: list[str]) -> None:
    """Also for a source that ignores them; the source gets them, too."""
    source = FakeProducts(MUGS)
    assert titles(await outcome_of(source, **arguments)) == wanted
    given = {name: value for name, value in arguments.items() if value is not None}
    assert source.asked == [ProductQuery("mug", **given)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"limit": "five"}, 'limit: expected an integer, got the string "five"'),
        ({"limit": 0}, "limit: expected an integer from 1 to 20, got 0"),
        ({"limit": 21}, "limit: expected an integer from 1 to 20, got 21"),
        ({"query": " \n"}, "query: must not be empty"),
        ({"query": "x" * 201}, "query: must not be longer than 200 characters"),
        ({"query": None}, "query: expected a string, got null"),
        ({"max_price": "20"}, 'max_price: expected a number, got the string "20"'),
        ({"min_price": -1}, "min_price: expected a price of at least 0, got -1"),
        ({"max_price": float("nan")}, "max_price: expected a price of at least 0, got nan"),
        ({"min_price": 30, "max_price": 20}, "min_price: 30 must not be higher than max_price: 20"),
        ({"condition": "broken"}, 'condition: expected one of "new", "used", got the string "broken"'),
        ({"sort": "date"}, 'sort: expected one of "relevance", "price_asc", "price_desc", got the string "date"'),
        ({"colour": "red"}, "colour: no such argument"),
    ],
)
async def test_wrong_arguments_name_the_field(arguments: dict[str, Any], says: str) -> None:
    """No search is sent (ME-07)."""
    source = FakeProducts(MUGS)
    outcome = await outcome_of(source, **arguments)
    assert (outcome.code, source.asked) == (Code.INVALID_ARGUMENTS, [])
    assert outcome.error.startswith(says)


async def test_a_failed_search_shows_its_reason() -> None:
    """To the model and, as an empty table, to people."""
    source = FakeProducts(fail=lambda _: ToolError(Code.TIMEOUT, "The shop did not answer in time."))
    outcome = await outcome_of(source)
    assert (outcome.success, outcome.code, outcome.error) == (False, Code.TIMEOUT, "The shop did not answer in time.")
    table: Any = outcome.artifact
    assert (table["data"], table["error"]) == ([], "The shop did not answer in time.")
    assert [column["key"] for column in table["columns"]] == ["name", "price"]


async def test_nothing_found() -> None:
    """The note says what may help."""
    outcome = await outcome_of(FakeProducts(MUGS), max_price=1)
    assert isinstance(outcome.result, dict)
    assert outcome.result["products"] == []
    assert outcome.result["note"] == (
        "Searching a shelf of tests found nothing. Other words, or wider bounds, may find more."
    )
    assert titles(outcome) == []


async def test_what_a_source_returns_is_cleaned() -> None:
    """Invisible characters, other addresses, impossible prices and repeated products."""
    found = [
        Product("Red\u202e mug\n<|im_start|>", f"{SHOP}/1", 5.0, "dollars", image="data:image/png;base64,AA"),
        Product("Red mug again", f"{SHOP}/1", 6.0),
        Product("Script", "javascript:alert(1)", 1.0),
        Product("", f"{SHOP}/2", 1.0),
        Product("Endless", f"{SHOP}/3", float("inf")),
        Product("Not a number", f"{SHOP}/4", float("nan")),
        Product("N" * 300, f"{SHOP}/5", 7.0, label="l" * 300),
    ]
    outcome = await outcome_of(FakeProducts(found))
    assert titles(outcome) == ["Red mug < |im_start| >", "Endless", "Not a number", "N" * 99 + "…"]
    listed: Any = outcome.result
    assert [one.get("price") for one in listed["products"]] == [5, None, None, 7]
    table: Any = outcome.artifact
    assert "image" not in table["data"][0]
    assert len(table["data"][3]["label"]) == 30


async def test_several_currencies() -> None:
    """Prices stay numbers, with their currency in another column."""
    outcome = await outcome_of(FakeProducts([product("Mug", 5.0), product("Tasse", 6.0, currency="EUR")]))
    table: Any = outcome.artifact
    assert [column["key"] for column in table["columns"]] == ["name", "price", "currency"]
    assert table["columns"][1]["format"] == {"kind": "number", "decimals": 2}
    assert [row["currency"] for row in table["data"]] == ["USD", "EUR"]


def test_equal_searches_have_equal_keys() -> None:
    """Case, width, spaces and defaults do not matter; words, bounds, number and order do."""
    same = [
        {"query": "Red mug"},
        {"query": " red  MUG ", "limit": 5},
        {"query": "ｒｅｄ mug", "sort": "relevance", "max_price": None},
    ]
    assert len({search_key(one) for one in same}) == 1  # type: ignore[arg-type]
    assert search_key({"query": "mug", "max_price": 20}) == search_key({"query": "mug", "max_price": 20.0})
    others: list[JsonObject] = [
        {"query": "mug red"},
        {"query": "red mug", "limit": 3},
        {"query": "red mug", "max_price": 20},
        {"query": "red mug", "min_price": 20},
        {"query": "red mug", "condition": "new"},
        {"query": "red mug", "sort": "price_asc"},
    ]
    assert len({search_key(one) for one in [*others, {"query": "red mug"}]}) == len(others) + 1
    assert search_key({"query": "ß" * 10_000})


def test_without_a_source_it_is_listed_with_the_reason() -> None:
    """Models are not offered it."""
    executor = ToolExecutor([search_products(None, "no product source is set up (PRODUCT_SOURCE)")])
    assert executor.offered == ()
    failure = executor.check("search_products", {"query": "x"})
    assert failure is not None
    assert (failure.code, failure.error) == (
        Code.TOOL_UNAVAILABLE,
        "search_products is not available: no product source is set up (PRODUCT_SOURCE)",
    )
