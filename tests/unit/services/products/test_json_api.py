"""Any JSON API as a product source, against a scripted server on loopback: real HTTP, real JSON."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonValue
from signalbox.core.products import Product, ProductQuery
from signalbox.core.tools import SearchUnavailableError
from signalbox.services.products.json_api import JsonApi, at, from_setup, number_of, read_mapping
from signalbox.services.products.setup import ProductSetup

from tests.support.web_server import Site, json_reply, reply, site

pytestmark = pytest.mark.anyio

KEY = "shop-s3cret"
MAPPING = """
about = "the catalogue of a shop"
url = "%s/search?q={query}&n={limit}&min={min_price}&max={max_price}&state={condition}&by={sort}"
currency = "USD"
products = "data.items"
price_factor = 0.01
notice = "Prices without tax."

[headers]
authorization = "Bearer {key}"

[fields]
title = "name"
url = "link"
price = "price.cents"
currency = "price.currency"
image = "images.0.src"
condition = "state"
label = "offer"

[conditions]
new = "NEW"
used = "SECOND_HAND"

[sorts]
price_asc = "price:asc"
"""
FOUND = {
    "data": {
        "items": [
            {
                "name": "Red <b>mug</b>",
                "link": "/p/red-mug",
                "price": {"cents": 1250},
                "images": [{"src": "//img.shop.example/red.jpg"}],
                "state": "NEW",
            },
            {
                "name": "Old mug",
                "link": "https://shop.example/p/old",
                "price": {"cents": "700", "currency": "EUR"},
                "state": "SECOND_HAND",
                "offer": "Sale",
            },
            {"name": "No link", "price": {"cents": 1}},
            "noise",
        ]
    }
}


@asynccontextmanager
async def shop(tmp_path: Path, *answers: bytes) -> AsyncIterator[tuple[JsonApi, Site]]:
    """Serve the answers on loopback, and return a source that is mapped to them."""
    async with site(*answers) as there, httpx.AsyncClient(trust_env=False) as client:
        file = tmp_path / "shop.toml"
        file.write_text(MAPPING % there.url)
        yield JsonApi(client, read_mapping(file), KEY, sleep=there.sleep), there


async def test_results_become_products(tmp_path: Path) -> None:
    """Fields are found by their paths, addresses are made absolute, prices are in units; others are left out."""
    async with shop(tmp_path, json_reply(FOUND)) as (source, there):
        found = await source.search(ProductQuery("red mug & co", 3, 5, 20.5, "used", "price_asc"))
    assert found == [
        Product("Red mug", f"{there.url}/p/red-mug", 12.5, image="http://img.shop.example/red.jpg", condition="new"),
        Product("Old mug", "https://shop.example/p/old", 7.0, "EUR", condition="used", label="Sale"),
    ]
    [asked] = there.asked
    assert asked.params == {
        "q": "red mug & co",
        "n": "3",
        "min": "500",
        "max": "2050",
        "state": "SECOND_HAND",
        "by": "price:asc",
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert (source.about, source.currency, source.notice) == ("the catalogue of a shop", "USD", "Prices without tax.")


async def test_nothing_found(tmp_path: Path) -> None:
    """An empty list is no failure; parameters without a value are empty."""
    async with shop(tmp_path, json_reply({"data": {"items": []}})) as (source, there):
        assert await source.search(ProductQuery("x")) == []
    assert there.asked[0].path.endswith("/search?q=x&n=5&min=&max=&state=&by=")


@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (reply("no", status=401), Code.TOOL_FAILED, "rejected the API key"),
        (reply("no", status=500), Code.TOOL_FAILED, "answered with status 500"),
        (reply("<html>"), Code.TOOL_FAILED, "cannot be read"),
        (json_reply({"data": {"items": {"a": 1}}}), Code.TOOL_FAILED, "cannot be read"),
        (json_reply({"data": {"items": [{"title": "other names"}]}}), Code.TOOL_FAILED, "cannot be read"),
        (json_reply({"data": {"items": [{}] * 30_000}}), Code.TOOL_FAILED, "too large"),
        (reply("slow down", status=429), Code.RATE_LIMIT, "too many requests"),
    ],
)
async def test_failures(tmp_path: Path, answer: bytes, code: Code, says: str) -> None:
    """A sentence without the address and the key; a response of another form is not an empty result."""
    async with shop(tmp_path, answer) as (source, there):
        with pytest.raises(ToolError, match=says) as raised:
            await source.search(ProductQuery("x"))
    assert raised.value.code is code
    assert KEY not in raised.value.message
    assert there.url not in raised.value.message


def test_paths() -> None:
    """Names and numbers with dots between; null where there is nothing."""
    value: JsonValue = {"a": {"b": [{"c": 1}]}, "list": [1]}
    assert at(value, "a.b.0.c") == 1
    assert at(value, "") == value
    assert [at(value, path) for path in ("a.x", "a.b.1.c", "a.b.c", "list.a", "list.-1")] == [None] * 5


@pytest.mark.parametrize(
    ("value", "price"),
    [(12, 12.0), (12.5, 12.5), ("1,299.00 $", 1299.0), ("USD 8", 8.0), ("free", None), (True, None), ([1], None)],
)
def test_prices(value: JsonValue, price: float | None) -> None:
    """Numbers, and texts with a number."""
    assert number_of(value) == price


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("about = ", "abut = "), "cannot be used: Object contains unknown field `abut`"),
        (('currency = "USD"', 'currency = "$"'), "cannot be used"),
        (("{query}", "x"), "has no {query}"),
        (("{limit}", "{count}"), "unknown placeholder {count}"),
        (("{limit}", "{limit"), "write { and } only around placeholders"),
        (("%s/search", "https://{query}.example"), "a host without placeholders"),
        (("%s/search", "file:///etc/passwd"), "must begin with http:// or https://"),
        (("[fields]", "[fields"), "is not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, change: tuple[str, str], why: str) -> None:
    """The reason names the field and what to do."""
    file = tmp_path / "shop.toml"
    file.write_text(MAPPING.replace(*change).replace("%s", "https://shop.example"))
    with pytest.raises(SearchUnavailableError, match="PRODUCT_JSON") as raised:
        read_mapping(file)
    assert why in str(raised.value)


async def test_settings_that_are_missing(tmp_path: Path) -> None:
    """The reason names the setting."""
    file = tmp_path / "shop.toml"
    file.write_text(MAPPING % "https://shop.example")
    async with httpx.AsyncClient() as client:
        for config, why in (
            (None, "PRODUCT_JSON names no file"),
            (tmp_path / "none.toml", "cannot be read"),
            (file, "PRODUCT_JSON_KEY is not set"),
        ):
            with pytest.raises(SearchUnavailableError, match=why):
                from_setup(ProductSetup(client=client, json_config=config))
        assert from_setup(ProductSetup(client=client, json_config=file, json_key=KEY)).name == "json"
