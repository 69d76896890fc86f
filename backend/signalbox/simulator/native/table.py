"""The routes of the native APIs, under the paths of their base URLs."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute, Mount

from . import anthropic, gemini, openai


@dataclass(frozen=True, slots=True)
class Row:
    """Names of dialects, the path of their base URL, and their routes below this path."""

    dialects: tuple[str, ...]
    base: str
    routes: Sequence[BaseRoute]


ROWS = (
    Row(("anthropic-messages",), "/anthropic", anthropic.ROUTES),
    Row(("openai-responses", "openai-chat"), "/openai/v1", openai.ROUTES),
    Row(("gemini",), "/gemini", gemini.ROUTES),
)


def native_routes() -> list[BaseRoute]:
    """Return the routes of all native APIs."""
    return [Mount(row.base, routes=row.routes) for row in ROWS]
