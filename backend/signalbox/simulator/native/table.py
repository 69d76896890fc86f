"""The routes of the native APIs: one row for each dialect, under the path of its base URL."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute, Mount

from . import anthropic, gemini, openai


@dataclass(frozen=True, slots=True)
class Row:
    """A dialect's name, the path of its base URL, and its routes below this path."""

    dialect: str
    base: str
    routes: Sequence[BaseRoute]


ROWS = (
    Row("anthropic-messages", "/anthropic", anthropic.ROUTES),
    Row("openai-responses", "/openai/v1", openai.ROUTES),
    Row("gemini", "/gemini", gemini.ROUTES),
)


def native_routes() -> list[BaseRoute]:
    """Return the routes of all native APIs."""
    return [Mount(row.base, routes=row.routes) for row in ROWS]
