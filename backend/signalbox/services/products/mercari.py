"""Reads the search pages of jp.mercari.com: addresses of searches, and the products on a page.

A product is a link to `/item/…` or, sold by a shop, to `/shops/product/…`, with an image, a name and a price in yen.
The classes of the page have hashes that change with each release, so only links, `aria-label`, `data-testid` and the
stable beginnings of class names (`merPrice`, `merItemThumbnail`, `merEmptyState`) are used.
"""

import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urljoin, urlsplit

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.products import Condition, Product, ProductQuery

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

SITE = "https://jp.mercari.com"

# Conditions as the site numbers them: 1 is new and unused, 2 to 6 are used.
_CONDITIONS: dict[Condition, str] = {"new": "1", "used": "2,3,4,5,6"}
_SORTS = {"price_asc": ("price", "asc"), "price_desc": ("price", "desc")}
_MOST_LINKS = 500
_LINKS = 'a[href*="/item/"], a[href*="/shops/product/"]'
_PATH = re.compile(r"/(?:[a-z]{2}/)?(?P<kind>item|shops/product)/(?P<id>[A-Za-z0-9]+)/?")
_YEN = re.compile(r"[¥￥]\s*(?P<after>[\d,]+)|(?P<before>[\d,]+)\s*円")
_OTHER_CURRENCY = re.compile(r"(?:US\$|[A-Z]{3}|[$€£])\s?\d")
_OF_IMAGE = re.compile(r"のサムネイル$|の画像(?:\s.*)?$", re.DOTALL)
_AUCTION = re.compile(r"オークション|入札|現在")
_SOLD = "売り切れ"
_NOTHING = re.compile(r"出品された商品がありません|該当する商品(?:が|は)(?:ありません|見つかりません)")


def has_parser() -> bool:
    """Return whether the HTML parser is installed, without loading it."""
    return find_spec("selectolax") is not None


def search_url(query: ProductQuery) -> str:
    """Return the address of a search for products on sale."""
    params = {"keyword": query.text, "status": "on_sale"}
    if query.min_price is not None:
        params["price_min"] = f"{query.min_price:.0f}"
    if query.max_price is not None:
        params["price_max"] = f"{query.max_price:.0f}"
    if query.condition:
        params["item_condition_id"] = _CONDITIONS[query.condition]
    if query.sort in _SORTS:
        params["sort"], params["order"] = _SORTS[query.sort]
    return f"{SITE}/search?{urlencode(params)}"


def products_in(page: bytes, condition: Condition | None = None) -> list[Product]:
    """Return the products of a page; `condition` is the one that was searched for.

    Raises ToolError if the page has neither products nor the sentence that nothing was found, so that a changed page is
    not mistaken for an empty one.
    """
    from selectolax.lexbor import LexborHTMLParser  # imported late: only this source needs it

    tree = LexborHTMLParser(page)
    found: dict[str, LexborNode] = {}
    for link in tree.css(_LINKS)[:_MOST_LINKS]:
        if path := _path(link):
            found.setdefault(path, link)
    products = [_product(path, link, condition) for path, link in found.items() if not _is_sold(link)]
    readable = [product for product in products if product is not None]
    if products and not readable:
        raise ToolError(Code.TOOL_FAILED, _unreadable(found.values()))
    if not found and not _says_nothing(tree):
        raise ToolError(Code.TOOL_FAILED, _CHANGED)
    return readable


_CHANGED = "The search page of jp.mercari.com has changed or was not loaded; its products cannot be read."
_FOREIGN_PRICES = "jp.mercari.com showed prices in another currency than yen; its products cannot be compared."


def _unreadable(links: Iterable["LexborNode"]) -> str:
    is_foreign = any(_OTHER_CURRENCY.search(_words(link)) for link in links)
    return _FOREIGN_PRICES if is_foreign else _CHANGED


def _says_nothing(tree: "LexborHTMLParser") -> bool:
    is_marked = tree.css_first('[class*="merEmptyState"], [data-testid="search-result-empty"]') is not None
    return is_marked or bool(tree.body and _NOTHING.search(tree.body.text()))


def _path(link: "LexborNode") -> str | None:
    """Return the path of a product's page, the same for the same product."""
    match = _PATH.fullmatch(urlsplit(link.attributes.get("href") or "").path)
    return f"/{match['kind']}/{match['id']}" if match else None


def _product(path: str, link: "LexborNode", condition: Condition | None) -> Product | None:
    """Return the product of a link, None without a name or a price in yen."""
    title, price = _title(link), _price(link)
    if not title or price is None:
        return None
    label = "Auction" if _AUCTION.search(_words(link)) else "Shop" if path.startswith("/shops/") else None
    return Product(title, SITE + path, price, image=_image(link), condition=condition, label=label)


def _words(link: "LexborNode") -> str:
    """Return what the link says: its text and the labels of its image."""
    labels = [node.attributes.get("aria-label") or "" for node in link.css("[aria-label]")]
    return " ".join([link.text(separator=" "), link.attributes.get("aria-label") or "", *labels])


def _title(link: "LexborNode") -> str:
    named = link.css_first('[data-testid="thumbnail-item-name"], [class*="itemName"]')
    if named is not None and (text := named.text(strip=True)):
        return text
    image = link.css_first("img[alt]")
    labelled = link.css_first('[class*="merItemThumbnail"][aria-label]') or link
    for text in ((image.attributes.get("alt") if image else None), labelled.attributes.get("aria-label")):
        if title := _OF_IMAGE.sub("", (text or "").strip()).strip():
            return title
    return ""


def _price(link: "LexborNode") -> int | None:
    shown = link.css_first('[class*="merPrice"], [data-testid="price"]')
    for text in ((shown.text() if shown else ""), _words(link)):
        if match := _YEN.search(text):
            digits = (match["after"] or match["before"]).replace(",", "")
            return int(digits) if digits else None
    return None


def _is_sold(link: "LexborNode") -> bool:
    return _SOLD in _words(link)


def _image(link: "LexborNode") -> str | None:
    image = link.css_first("img")
    if image is None:
        return None
    sources = (image.attributes.get(name) or "" for name in ("src", "data-src"))
    return next((urljoin(SITE, source) for source in sources if source and not source.startswith("data:")), None)
