"""Settings of the search backends and product sources."""

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

from pydantic import SecretStr, field_validator
from pydantic_settings import BaseSettings


class SearchSettings(BaseSettings):
    """Where `search_web` and `search_products` search."""

    search_backend: str | None = None
    searxng_url: str | None = None
    brave_api_key: SecretStr | None = None
    brave_base_url: str = "https://api.search.brave.com/res/v1"
    tavily_api_key: SecretStr | None = None
    tavily_base_url: str = "https://api.tavily.com"
    product_source: str | None = None
    product_json: Path | None = None
    product_json_key: SecretStr | None = None
    scrapingbee_api_key: SecretStr | None = None
    scrapingbee_base_url: str = "https://app.scrapingbee.com/api/v1"

    @field_validator("search_backend")
    @classmethod
    def _is_backend(cls, value: str | None) -> str | None:
        if not (name := _name_in(value)):
            return name
        from signalbox.services.search import NAMES, plugin_names  # loads an HTTP client, which most commands omit

        return _one_of(name, NAMES, plugin_names())

    @field_validator("product_source")
    @classmethod
    def _is_product_source(cls, value: str | None) -> str | None:
        if not (name := _name_in(value)):
            return name
        from signalbox.services.products import NAMES, plugin_names  # as above

        return _one_of(name, NAMES, plugin_names())


def _name_in(value: str | None) -> str | None:
    return value.strip().lower() if value else None


def _one_of(name: str, built_in: Collection[str], plugins: Collection[str]) -> str:
    """Return the name of a backend; raises ValueError with the names that exist."""
    names = (*built_in, *plugins)
    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"must be one of {', '.join(names)}{hint}")
