"""Products: what a search asks for, what is found, and the sources that find it."""

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

Condition: TypeAlias = Literal["new", "used"]
Sort: TypeAlias = Literal["relevance", "price_asc", "price_desc"]


class ProductQuery(Struct, frozen=True):
    """One search. Prices are in the currency of the source."""

    text: str
    limit: int = 5
    min_price: float | None = None
    max_price: float | None = None
    condition: Condition | None = None
    sort: Sort = "relevance"


class Product(Struct, frozen=True):
    """One product: `url` and `image` are its addresses, `label` is a short remark such as "Auction".

    `price` is in units of `currency` (ISO 4217), which is that of the source if it is empty.
    """

    title: str
    url: str
    price: float | None = None
    currency: str = ""
    image: str | None = None
    condition: Condition | None = None
    label: str | None = None


class ProductSource(Protocol):
    """A source of products. `about` describes what it searches; `paid` decides the default limit of searches.

    `notice` is a sentence for the model and for people that is part of every result.
    """

    name: str
    about: str
    currency: str
    paid: bool
    notice: str

    async def search(self, query: ProductQuery) -> list[Product]:
        """Return products, best first; raises ToolError (RATE_LIMIT, TOOL_FAILED, …).

        A source may return more than `query.limit`, and products outside the bounds: the tool filters and sorts them.
        """
        ...
