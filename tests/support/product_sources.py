"""Scripted product sources."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from signalbox.core.products import Product, ProductQuery

SHOP = "https://shop.example"


@dataclass
class FakeProducts:
    """A product source that returns the same products, can fail or wait on request, and records its queries."""

    products: list[Product] = field(default_factory=list)
    name: str = "fake"
    about: str = "a shelf of tests"
    currency: str = "USD"
    paid: bool = False
    notice: str = ""
    asked: list[ProductQuery] = field(default_factory=list)
    fail: Callable[[ProductQuery], Exception | None] = lambda query: None
    gate: asyncio.Event | None = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def search(self, query: ProductQuery) -> list[Product]:
        self.asked.append(query)
        self.arrived.set()
        if self.gate is not None:
            await self.gate.wait()
        if error := self.fail(query):
            raise error
        return self.products


def product(title: str, price: float | None = None, **more: object) -> Product:
    """Return a product of a shop."""
    return Product(title, f"{SHOP}/{'-'.join(title.lower().split())}", price, **more)  # type: ignore[arg-type]
