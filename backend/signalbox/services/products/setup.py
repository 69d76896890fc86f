"""The settings of product search for the built-in sources."""

from dataclasses import dataclass, field
from pathlib import Path

import httpx


@dataclass(frozen=True, slots=True)
class ProductSetup:
    """The file that maps a JSON API and the key for it, and the URL and key of ScrapingBee.

    `is_simulated`: the simulator answers, so that the demo catalogue is the source if no other is set up.
    """

    client: httpx.AsyncClient
    json_config: Path | None = None
    json_key: str | None = field(default=None, repr=False)
    scrapingbee: tuple[str, str | None] = field(default=("", None), repr=False)
    is_simulated: bool = False
