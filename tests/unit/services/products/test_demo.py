"""The demo catalogue: found without a network or a key."""

import csv
from collections import Counter
from importlib.resources import files

import pytest
from signalbox.core.products import ProductQuery
from signalbox.services.products.demo import CATALOGUE, DemoCatalogue

pytestmark = pytest.mark.anyio

ROWS = [*csv.DictReader(files("signalbox.services.products").joinpath(CATALOGUE).read_text("utf-8").splitlines())]


def test_the_catalogue_has_variety() -> None:
    """Different products, new and used, cheap and dear."""
    assert len({row["title"] for row in ROWS}) == len(ROWS) > 150
    assert Counter(row["condition"] for row in ROWS)["used"] > 15
    prices = [float(row["price"]) for row in ROWS]
    assert 0 < min(prices) < 10
    assert max(prices) > 400
    assert all(row["tags"] for row in ROWS)


async def test_all_words_come_first() -> None:
    """A product with all words, in any form, otherwise one with any of them."""
    catalogue = DemoCatalogue()
    mugs = await catalogue.search(ProductQuery("red mugs"))
    assert len(mugs) >= 4
    assert all("mug" in one.title.lower() and "red" in one.title.lower() for one in mugs)
    assert (mugs[0].currency, mugs[0].condition) == ("", "new")
    assert any("tent" in one.title for one in await catalogue.search(ProductQuery("tent for a wedding")))
    assert len({one.url for one in mugs}) == len(mugs)


@pytest.mark.parametrize("text", ['"', "AND OR NOT", "xylophonist", "mug*) OR (", "…"])
async def test_any_text_is_a_query(text: str) -> None:
    """Nothing in it is syntax of the index."""
    assert all(one.title for one in await DemoCatalogue().search(ProductQuery(text)))
