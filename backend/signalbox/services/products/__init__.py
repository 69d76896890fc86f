"""The product sources: built-in ones, one per file, those of plugins, and their selection."""

from collections.abc import Callable
from typing import TypeAlias

from signalbox.core.products import ProductSource
from signalbox.core.tools import SearchUnavailableError
from signalbox.services.plugin_backend import OnClose
from signalbox.services.products import demo, json_api, scrapingbee
from signalbox.services.products.plugin import plugin_names, plugin_source
from signalbox.services.products.setup import ProductSetup

PickedSource: TypeAlias = tuple[ProductSource | None, str | None]

BUILT_IN: dict[str, Callable[[ProductSetup], ProductSource]] = {
    "demo": demo.from_setup,
    "json": json_api.from_setup,
    "scrapingbee": scrapingbee.from_setup,
}
_OFF = ("none", "off")
NAMES = (*BUILT_IN, *_OFF)
NOT_SET_UP = "no product source is set up (PRODUCT_SOURCE)"

__all__ = ["BUILT_IN", "NAMES", "NOT_SET_UP", "PickedSource", "ProductSetup", "pick_source", "plugin_names"]


def pick_source(wanted: str | None, setup: ProductSetup, on_close: OnClose = lambda _: None) -> PickedSource:
    """Return the product source, or None and the reason.

    Without `wanted`, it is the first of the JSON API and ScrapingBee that is configured, otherwise the demo catalogue,
    but only while the simulator answers, so that no user is shown invented products unasked. `on_close` receives a
    function that stops a plugin's thread.
    """
    name = (wanted or "").strip().lower() or _first_configured(setup)
    if not name:
        return None, NOT_SET_UP
    if name in _OFF:
        return None, "product search is turned off (PRODUCT_SOURCE)"
    try:
        if name in BUILT_IN:
            return BUILT_IN[name](setup), None
        if name in plugin_names():
            return plugin_source(name, on_close), None
    except SearchUnavailableError as reason:
        return None, str(reason)
    known = ", ".join((*BUILT_IN, *plugin_names()))
    return None, f'PRODUCT_SOURCE is "{name[:40]}", which is unknown; choose {known} or none'


def _first_configured(setup: ProductSetup) -> str:
    candidates = (("json", setup.json_config), ("scrapingbee", setup.scrapingbee[1]), ("demo", setup.is_simulated))
    return next((name for name, setting in candidates if setting), "")
