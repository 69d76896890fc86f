"""Searches a small catalogue of invented products with SQLite's full-text index, without a network or a key."""

import asyncio
import csv
import sqlite3
import threading
from importlib.resources import files
from typing import cast

from signalbox.core.products import Condition, Product, ProductQuery
from signalbox.services.products.setup import ProductSetup
from signalbox.services.search.docs import match_expressions

CATALOGUE = "demo_catalogue.csv"
# The page that says what these products are. Its query makes the addresses differ.
_PAGE = "/guide/product-search.md?product={}#the-demo-catalogue"

_TABLE = """CREATE VIRTUAL TABLE products USING fts5 (
    title, tags, price UNINDEXED, condition UNINDEXED, tokenize = "porter unicode61 remove_diacritics 2"
)"""
# Words in titles weigh more than tags.
_FIND = """SELECT rowid, title, price, condition FROM products WHERE products MATCH ?
ORDER BY bm25(products, 4.0, 1.0)"""


class DemoCatalogue:
    """A ProductSource over the file `demo_catalogue.csv`, indexed in memory by the first search."""

    name = "demo"
    about = "Signalbox's demo catalogue"
    currency = "USD"
    paid = False
    notice = "These products are invented: they show how product search works."

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._index: sqlite3.Connection | None = None

    async def search(self, query: ProductQuery) -> list[Product]:
        """Return the products that have all words, else those that have any, best first."""
        return await asyncio.to_thread(self._search, query.text)

    def _search(self, text: str) -> list[Product]:
        with self._lock:
            self._index = self._index or _indexed()
            for expression in match_expressions(text):
                rows = self._index.execute(_FIND, (expression,)).fetchall()
                if rows:
                    return [_product(*row) for row in rows]
        return []


def _indexed() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(_TABLE)
    text = files("signalbox.services.products").joinpath(CATALOGUE).read_text(encoding="utf-8")
    rows = [
        (row["title"], row["tags"], float(row["price"]), row["condition"]) for row in csv.DictReader(text.splitlines())
    ]
    connection.executemany("INSERT INTO products (title, tags, price, condition) VALUES (?, ?, ?, ?)", rows)
    return connection


def _product(number: int, title: str, price: float, condition: str) -> Product:
    return Product(title, _PAGE.format(number), price, condition=cast(Condition, condition))


def from_setup(setup: ProductSetup) -> DemoCatalogue:
    """Return the source, which needs no settings."""
    return DemoCatalogue()
