"""Searches any product API that answers in JSON, mapped by a TOML file."""

import asyncio
import re
import tomllib
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Annotated, Literal, TypeAlias
from urllib.parse import quote, urljoin, urlsplit

import httpx
import msgspec
from msgspec import Meta, Struct

from signalbox.core.messages import JsonValue
from signalbox.core.products import Condition, Product, ProductQuery
from signalbox.core.tools import SearchUnavailableError
from signalbox.offload import offloaded
from signalbox.services.products.setup import ProductSetup
from signalbox.services.search.api import LONGEST_FIELD, SearchApi, Sleep, text_of

_TIMEOUT = httpx.Timeout(15.0, connect=5.0)
_MOST_PRODUCTS = 500
_LARGEST_FILE = 64 * 1024
# What a URL may contain in braces.
_PLACEHOLDERS = frozenset({"query", "limit", "min_price", "max_price", "condition", "sort"})
_NUMBER = re.compile(r"\d[\d.,' \u00a0]*")

JsonPath: TypeAlias = Annotated[str, Meta(min_length=1)]


class Fields(Struct, frozen=True, forbid_unknown_fields=True):
    """The path of each field in a product, such as `price.amount` or `images.0.url`."""

    title: JsonPath
    url: JsonPath
    price: JsonPath | None = None
    currency: JsonPath | None = None
    image: JsonPath | None = None
    condition: JsonPath | None = None
    label: JsonPath | None = None


class JsonMapping(Struct, frozen=True, forbid_unknown_fields=True):
    """The TOML file. `products` is the path of the list; `conditions` and `sorts` translate our words to the API's.

    `price_factor` makes units of the currency: 0.01 if the API counts in cents. A header may contain `{key}`.
    """

    about: str
    url: str
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")]
    fields: Fields
    products: str = ""
    price_factor: Annotated[float, Meta(gt=0)] = 1.0
    paid: bool = False
    notice: str = ""
    headers: dict[str, str] = {}
    conditions: dict[Literal["new", "used"], str] = {}
    sorts: dict[Literal["relevance", "price_asc", "price_desc"], str] = {}


class JsonApi:
    """A ProductSource over one `GET` request per search."""

    name = "json"

    def __init__(
        self, client: httpx.AsyncClient, mapping: JsonMapping, key: str | None = None, *, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.about, self.currency = mapping.about, mapping.currency
        self.paid, self.notice = mapping.paid, mapping.notice
        self._mapping = mapping
        self._headers = {name: value.replace("{key}", key or "") for name, value in mapping.headers.items()}
        self._conditions: dict[str, Condition] = {word: ours for ours, word in mapping.conditions.items()}
        self._api = SearchApi("The product API", client, sleep=sleep, timeout=_TIMEOUT)

    async def search(self, query: ProductQuery) -> list[Product]:
        """Return the products of one page of results; raises ToolError."""
        request = httpx.Request("GET", self._url(query), headers={"accept": "application/json", **self._headers})
        body = await self._api.fetch(request)
        return await offloaded(partial(self._products, body), size=len(body))

    def _url(self, query: ProductQuery) -> str:
        values = {
            "query": query.text,
            "limit": str(query.limit),
            "min_price": _bound(query.min_price, self._mapping.price_factor),
            "max_price": _bound(query.max_price, self._mapping.price_factor),
            "condition": self._mapping.conditions.get(query.condition, "") if query.condition else "",
            "sort": self._mapping.sorts.get(query.sort, ""),
        }
        return self._mapping.url.format_map({name: quote(value, safe="") for name, value in values.items()})

    def _products(self, body: bytes) -> list[Product]:
        found = at(self._api.parse(body), self._mapping.products)
        if not isinstance(found, list):
            raise self._api.unreadable()
        products = [product for one in found[:_MOST_PRODUCTS] if (product := self._product(one)) is not None]
        if found and not products:
            raise self._api.unreadable()
        return products

    def _product(self, value: JsonValue) -> Product | None:
        fields = self._mapping.fields
        title, url = text_of(_text(at(value, fields.title))), _text(at(value, fields.url))
        if not title or not url:
            return None
        price = number_of(at(value, fields.price)) if fields.price else None
        currency = _text(at(value, fields.currency)) if fields.currency else ""
        image = _text(at(value, fields.image)) if fields.image else ""
        condition = _text(at(value, fields.condition)) if fields.condition else ""
        label = _text(at(value, fields.label)) if fields.label else ""
        return Product(
            title=title,
            url=urljoin(self._mapping.url, url),
            price=None if price is None else round(price * self._mapping.price_factor, 6),
            currency=currency if re.fullmatch("[A-Z]{3}", currency) else "",
            image=urljoin(self._mapping.url, image) if image else None,
            condition=self._conditions.get(condition),
            label=label or None,
        )


def at(value: JsonValue, path: str) -> JsonValue:
    """Return the value at a path of names and numbers with dots between; null if there is none, all if it is empty."""
    for step in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def number_of(value: JsonValue) -> float | None:
    """Return a price as a number; a text such as "$1,299.00" is read with a point for the decimals."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    found = _NUMBER.search(value[:LONGEST_FIELD]) if isinstance(value, str) else None
    try:
        return float(re.sub(r"[,' \u00a0]", "", found[0]).rstrip(".")) if found else None
    except ValueError:  # several points
        return None


def _text(value: JsonValue) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:LONGEST_FIELD].strip()


def _bound(price: float | None, factor: float) -> str:
    return "" if price is None else f"{price / factor:.10g}"


# --- the file ---


def read_mapping(path: Path) -> JsonMapping:
    """Read the TOML file; raises SearchUnavailableError with a sentence for the operator."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE)
        mapping = msgspec.convert(tomllib.loads(data.decode()), JsonMapping)
    except OSError as error:
        raise SearchUnavailableError(f"the file of PRODUCT_JSON cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SearchUnavailableError(f"the file of PRODUCT_JSON is not valid TOML: {error}"[:300]) from None
    except msgspec.ValidationError as error:
        raise SearchUnavailableError(f"the file of PRODUCT_JSON cannot be used: {error}"[:300]) from None
    if fault := _url_fault(mapping.url):
        raise SearchUnavailableError(f"the url in the file of PRODUCT_JSON {fault}")
    return mapping


def _url_fault(url: str) -> str | None:
    try:
        names = {name for _, name, _, _ in Formatter().parse(url) if name is not None}
        parts = urlsplit(url)
    except ValueError:
        return "is not a URL; write { and } only around placeholders"
    if unknown := sorted(names - _PLACEHOLDERS):
        return f"has the unknown placeholder {{{unknown[0]}}}; the placeholders are {', '.join(sorted(_PLACEHOLDERS))}"
    if "query" not in names:
        return "has no {query}"
    if parts.scheme not in ("http", "https") or not parts.hostname or "{" in parts.netloc:
        return "must begin with http:// or https:// and a host without placeholders"
    return None


def from_setup(setup: ProductSetup) -> JsonApi:
    """Return the source; raises SearchUnavailableError."""
    if setup.json_config is None:
        raise SearchUnavailableError("PRODUCT_SOURCE is json, but PRODUCT_JSON names no file")
    mapping = read_mapping(setup.json_config)
    if any("{key}" in value for value in mapping.headers.values()) and not setup.json_key:
        raise SearchUnavailableError("a header of PRODUCT_JSON needs {key}, but PRODUCT_JSON_KEY is not set")
    return JsonApi(setup.client, mapping, setup.json_key)
