"""Product sources of plugins, from the entry points of the group `signalbox.product_sources`."""

import re
from dataclasses import dataclass
from typing import cast

from msgspec import ValidationError, convert, to_builtins

from signalbox.core.products import Product, ProductQuery, ProductSource
from signalbox.core.tools import SearchUnavailableError
from signalbox.services.plugin_backend import OnClose, PluginBackend, load_backend, names_of

GROUP = "signalbox.product_sources"

_MOST_PRODUCTS, _LONGEST_NOTICE = 500, 300


def plugin_names() -> list[str]:
    """Return the names of the sources of installed packages."""
    return names_of(GROUP)


def plugin_source(name: str, on_close: OnClose) -> ProductSource:
    """Load a source by name; raises SearchUnavailableError."""
    loaded = load_backend(GROUP, name, "product source", "PRODUCT_SOURCE", on_close)
    currency = cast(object, getattr(loaded.backend, "currency", None))
    notice = cast(object, getattr(loaded.backend, "notice", ""))
    if not isinstance(currency, str) or not re.fullmatch("[A-Z]{3}", currency):
        raise SearchUnavailableError(f"PRODUCT_SOURCE is {name}, and its currency is not a code such as USD")
    shown = notice[:_LONGEST_NOTICE] if isinstance(notice, str) else ""
    return PluginProducts(loaded.name, loaded.about, currency, loaded.paid, shown, loaded)


@dataclass(slots=True)
class PluginProducts:
    """Wraps a plugin's ProductSource; turns its exceptions into ToolError and validates its products."""

    name: str
    about: str
    currency: str
    paid: bool
    notice: str
    plugin: PluginBackend

    async def search(self, query: ProductQuery) -> list[Product]:
        """Return the plugin's products; raises ToolError."""
        found = await self.plugin.call(lambda: cast(ProductSource, self.plugin.backend).search(query))
        try:
            return _products(found)
        except (TypeError, ValidationError) as error:
            raise self.plugin.failed(error) from None


def _products(found: object) -> list[Product]:
    """Return the products of a plugin's result; raises TypeError or ValidationError for anything else."""
    if not isinstance(found, list | tuple):
        raise TypeError("not a list of Product")
    first = cast("list[object]", found)[:_MOST_PRODUCTS]
    if not all(isinstance(one, Product) for one in first):
        raise TypeError("not a list of Product")
    return convert(to_builtins(first), list[Product])
