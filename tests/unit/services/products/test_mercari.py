"""Search pages of jp.mercari.com: their products, and pages that cannot be read."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.products import Product, ProductQuery
from signalbox.services.products.mercari import SITE, products_in, search_url

PAGES = Path(__file__).parent / "pages"


def products_of(name: str) -> list[Product]:
    """Return the products of a page that was written by hand."""
    return products_in((PAGES / f"{name}.html").read_bytes())


def test_items() -> None:
    """Each once, without sold ones and those without a price; names and prices from the first place that has them."""
    assert products_of("items") == [
        Product(
            "赤いマグカップ",
            f"{SITE}/item/m11111111111",
            1500,
            image="https://static.mercdn.net/c!/w=240/thumb/photos/m11111111111_1.jpg?1",
        ),
        Product(
            "ホーローのカップ & ソーサー",
            f"{SITE}/item/m22222222222",
            900,
            image="https://static.mercdn.net/thumb/photos/m22222222222_1.jpg",
        ),
        Product("Vintage mug", f"{SITE}/item/m33333333333", 12000),
    ]


def test_items_of_shops() -> None:
    """Their links have another form; they are marked."""
    assert products_of("shop_items") == [
        Product(
            "有田焼 マグ 2個組",
            f"{SITE}/shops/product/2JHkWeqN4XyZabcDEF",
            3980,
            image="https://assets.mercari-shops-static.com/-/small/plain/2JHkWeqN.jpg@jpg",
            label="Shop",
        ),
        Product("マグ", f"{SITE}/item/m66666666666", 800),
    ]


def test_auctions() -> None:
    """The price is the current bid, without the words around it."""
    [auction] = products_of("auctions")
    assert (auction.title, auction.price, auction.label) == ("古いカップ", 2300, "Auction")


def test_no_results() -> None:
    """The page says so, so the list is empty."""
    assert products_of("no_results") == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("changed", "The search page of jp.mercari.com has changed or was not loaded"),
        ("other_currency", "jp.mercari.com showed prices in another currency than yen"),
    ],
)
def test_a_page_that_cannot_be_read_is_an_error(name: str, says: str) -> None:
    """It is not mistaken for an empty list."""
    with pytest.raises(ToolError, match=says) as raised:
        products_of(name)
    assert raised.value.code is Code.TOOL_FAILED


@pytest.mark.parametrize(
    "page", [b"", b"\xff\xfe\x00", b"<html><body>Just a moment...</body></html>", b"<a href='/item/"]
)
def test_a_page_that_is_none_is_an_error(page: bytes) -> None:
    """Such as an empty one, and one that asks whether a person is reading."""
    with pytest.raises(ToolError, match="has changed or was not loaded"):
        products_in(page)


def test_links_without_prices_are_a_changed_page() -> None:
    """If no product of a page can be read, the page has changed."""
    with pytest.raises(ToolError, match="has changed"):
        products_in('<a href="/item/m1"><span>赤いマグカップ</span></a>'.encode())


def test_the_condition_searched_for_is_that_of_the_products() -> None:
    """The page does not show it."""
    page = (PAGES / "auctions.html").read_bytes()
    assert [one.condition for one in products_in(page, "used")] == ["used"]


@pytest.mark.parametrize(
    ("query", "params"),
    [
        (ProductQuery("赤 mug&x=1"), {"keyword": "赤 mug&x=1", "status": "on_sale"}),
        (
            ProductQuery("cup", min_price=500, max_price=2000.4, condition="new", sort="price_desc"),
            {
                "keyword": "cup",
                "status": "on_sale",
                "price_min": "500",
                "price_max": "2000",
                "item_condition_id": "1",
                "sort": "price",
                "order": "desc",
            },
        ),
    ],
)
def test_the_address_of_a_search(query: ProductQuery, params: dict[str, str]) -> None:
    """Bounds, condition and order are those of the site."""
    parts = urlsplit(search_url(query))
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{SITE}/search"
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == params
