"""Which product source is used, and the reason if there is none."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from signalbox.core.tools import SearchUnavailableError
from signalbox.services.products import PickedSource, ProductSetup, mercari, pick_source, scrapingbee

pytestmark = pytest.mark.anyio

BEE = ("https://bee.test", "k3y")


async def picked(wanted: str | None = None, **given: Any) -> PickedSource:
    """Pick a source for these settings only."""
    async with httpx.AsyncClient() as client:
        return pick_source(wanted, ProductSetup(client=client, **given))


@pytest.mark.parametrize(
    ("wanted", "given", "name"),
    [
        (None, {"is_simulated": True}, "demo"),
        ("", {"is_simulated": True, "scrapingbee": BEE}, "scrapingbee"),
        (" Demo ", {"scrapingbee": BEE}, "demo"),
        ("scrapingbee", {"scrapingbee": BEE}, "scrapingbee"),
    ],
)
async def test_the_named_source_or_the_first_configured_one(
    wanted: str | None, given: Mapping[str, Any], name: str
) -> None:
    """Without a name a configured one, and the demo catalogue only while the simulator answers."""
    source, why = await picked(wanted, **given)
    assert source is not None
    assert (source.name, why) == (name, None)


@pytest.mark.parametrize(
    ("wanted", "given", "why"),
    [
        (None, {}, "no product source is set up (PRODUCT_SOURCE)"),
        ("none", {"is_simulated": True}, "product search is turned off (PRODUCT_SOURCE)"),
        ("json", {}, "PRODUCT_SOURCE is json, but PRODUCT_JSON names no file"),
        ("scrapingbee", {}, "PRODUCT_SOURCE is scrapingbee, but SCRAPINGBEE_API_KEY is not set"),
        (
            "scrapingbee",
            {"scrapingbee": ("ftp://x", "k")},
            "SCRAPINGBEE_API_KEY or SCRAPINGBEE_BASE_URL cannot be used: its address is not an http or https address",
        ),
        (None, {"json_config": Path("/nowhere.toml")}, "the file of PRODUCT_JSON cannot be read"),
        ("shop", {}, 'PRODUCT_SOURCE is "shop", which is unknown; choose demo, json, scrapingbee or none'),
    ],
)
async def test_why_there_is_none(wanted: str | None, given: Mapping[str, Any], why: str) -> None:
    """The reason names the setting."""
    source, reason = await picked(wanted, **given)
    assert source is None
    assert why in str(reason)


async def test_the_parser_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, the reason names the extra."""
    monkeypatch.setattr(mercari, "has_parser", lambda: False)
    async with httpx.AsyncClient() as client:
        with pytest.raises(SearchUnavailableError, match=r"\.\[scrapingbee\]"):
            scrapingbee.from_setup(ProductSetup(client=client, scrapingbee=BEE))
