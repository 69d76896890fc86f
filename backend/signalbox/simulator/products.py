"""Finds what a message wants to buy, and writes what a product search found."""

import re
from typing import Any

from .http.incoming import Incoming
from .json_values import as_list, as_object
from .model.intents import keywords
from .model.tool_results import Result, tidy
from .model.turns import Call

_TOOL = "search_products"
_AMOUNT = r"(?:[$€£¥]\s*)?(?P<{0}>\d[\d,]*(?:\.\d+)?)\s*(?:dollars?|bucks|usd|euros?|eur|yen|jpy|pounds?|gbp|[$€£¥円])?"
_BETWEEN = re.compile(
    rf"\b(?:between|from)\s+{_AMOUNT.format('low')}\s+(?:and|to)\s+{_AMOUNT.format('high')}", re.IGNORECASE
)
_BELOW = re.compile(
    rf"(?:\b(?:under|below|up to|at most|no more than|less than|cheaper than|max(?:imum)?)|<)\s+"
    rf"{_AMOUNT.format('high')}",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"(?:\b(?:over|above|at least|more than|from|min(?:imum)?)|>)\s+{_AMOUNT.format('low')}", re.IGNORECASE
)
_CURRENCY = re.compile(r"[$€£¥円]|\b(?:dollars?|bucks|usd|euros?|eur|yen|jpy|pounds?|gbp)\b", re.IGNORECASE)
_SHOPPING = re.compile(
    r"\b(?:buy|purchase|shop for|shopping for|for sale|cheap(?:er|est)?|most expensive|second[- ]?hand)\b",
    re.IGNORECASE,
)
_FINDS = re.compile(r"\b(?:find|show|search|look(?:ing)? for|want|need|get|recommend|suggest|list)\b", re.IGNORECASE)
_CHEAPEST = re.compile(r"\bcheap(?:er|est)?\b|\blowest price", re.IGNORECASE)
_DEAREST = re.compile(r"\bmost expensive\b|\bhighest price", re.IGNORECASE)
_USED = re.compile(r"\b(?:used|second[- ]?hand|refurbished)\b", re.IGNORECASE)
_NEW = re.compile(r"\b(?:brand[- ])?new\b", re.IGNORECASE)
_COUNT = re.compile(r"\b(?P<count>\d{1,2}|two|three|four|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_WORDS = {"two": 2, "three": 3, "four": 4, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_FILLER = re.compile(
    r"\b(?:buy|purchase|shop(?:ping)? for|for sale|products?|cheap(?:er|est)?|most expensive|second[- ]?hand|"
    r"refurbished|used|(?:brand[- ])?new|look(?:ing)? for|i|want|need|get|show|recommend|suggest|list|me|online|"
    r"sort(?:ed)? by price|in euros?|in dollars?|which costs?|that costs?|costing|priced|dollars?|euros?)\b",
    re.IGNORECASE,
)


def product_call(incoming: Incoming) -> Call | None:
    """Return a call of the offered product search if the question is about buying something."""
    tool = next((tool for tool in incoming.tools if tool.name == _TOOL), None)
    question = incoming.question
    if tool is None or not _is_shopping(question):
        return None
    arguments: dict[str, Any] = {}
    text = question
    for pattern in (_BETWEEN, _BELOW, _ABOVE):
        if match := pattern.search(text):
            bounds = {"low": "min_price", "high": "max_price"}
            found = {bounds[name]: _number(value) for name, value in match.groupdict().items()}
            arguments |= {name: value for name, value in found.items() if name not in arguments}
            text = text[: match.start()] + " " + text[match.end() :]
    if match := _COUNT.search(text):
        word = match["count"].lower()
        arguments["limit"] = min(max(_WORDS.get(word) or int(word), 1), 20)
        text = text[: match.start()] + " " + text[match.end() :]
    if match := _USED.search(text) or _NEW.search(text):
        arguments["condition"] = "used" if _USED.search(text) else "new"
    if _CHEAPEST.search(text) or _DEAREST.search(text):
        arguments["sort"] = "price_desc" if _DEAREST.search(text) else "price_asc"
    query = keywords(_FILLER.sub(" ", text))
    return Call(tool.name, {"query": query, **arguments}) if query else None


def _is_shopping(question: str) -> bool:
    is_priced = bool(_CURRENCY.search(question)) and any(one.search(question) for one in (_BETWEEN, _BELOW, _ABOVE))
    return bool(_FINDS.search(question)) and (is_priced or bool(_SHOPPING.search(question)))


def _number(text: str) -> float | int:
    value = float(text.replace(",", ""))
    return int(value) if value == int(value) else value


def is_product_search(name: str) -> bool:
    """Return whether a tool is the product search."""
    return name == _TOOL


def found_products(result: Result, query: str) -> str:
    """Return a sentence or two about the products: the user sees them, and the notice of their source, as a table."""
    if result.error:
        return f"The product search for “{query}” failed: {tidy(result.error, 200)}"
    products = [as_object(one) for one in as_list(result.field("products"))]
    if not products:
        return f"I found no products for **{query}**."
    first, *others = products
    count = "one product" if not others else f"{len(products)} products"
    priced = [one for one in products if isinstance(one.get("price"), int | float)]
    cheapest = min(priced, key=lambda one: one["price"], default=first)
    return f"I found {count} for **{query}**. The cheapest is {_linked(cheapest)}."


def _linked(product: dict[str, Any]) -> str:
    price = product.get("price")
    amount = f" for {price:,.2f} {product.get('currency', '')}".rstrip() if isinstance(price, int | float) else ""
    return f"[{tidy(str(product.get('title', '')), 80)}]({product.get('url', '')}){amount}"
