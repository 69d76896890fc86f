"""The settings of search for the built-in backends."""

from dataclasses import dataclass, field
from pathlib import Path

import httpx

from signalbox.core.tools import SearchUnavailableError
from signalbox.services.search.api import Account


@dataclass(frozen=True, slots=True)
class SearchSetup:
    """URLs and keys of search services, and the folders to search.

    `own_docs`: the folder has this project's documentation. `database` is the file of the folders' index.
    """

    client: httpx.AsyncClient
    docs_folder: Path
    own_docs: bool
    searxng_url: str | None = None
    brave: tuple[str, str | None] = field(default=("", None), repr=False)
    tavily: tuple[str, str | None] = field(default=("", None), repr=False)
    notes: Path | None = None
    database: Path | None = None


def account_of(name: str, account: tuple[str, str | None]) -> Account:
    """Return the endpoint of a service; raises SearchUnavailableError with the names of its settings."""
    base_url, key = account
    if not key:
        raise SearchUnavailableError(f"SEARCH_BACKEND is {name.lower()}, but {name}_API_KEY is not set")
    try:
        return Account(base_url, key.strip())
    except ValueError as error:
        reason = f"{name}_API_KEY or {name}_BASE_URL cannot be used: {error}"
        raise SearchUnavailableError(reason) from None
