"""Endpoints of the API reject unknown query parameters.

A misspelt filter, or one of a newer version, would otherwise return everything. `/health`, the pages and their files
accept any parameter, since probes and caches add their own.
"""

from collections.abc import Callable, Collection, Coroutine
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi import params as kinds
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from starlette.types import Scope

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError

_SHOWN = 60


class KnownParameters(APIRoute):
    """A route that rejects query parameters that its endpoint does not declare, before it is called."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the names before the endpoint is called."""
        handle = super().get_route_handler()
        known = [one.alias for one in get_flat_params(self.dependant) if isinstance(one.field_info, kinds.Query)]

        async def checked(request: Request) -> Response:
            reject_unknown(request.scope, known)
            return await handle(request)

        return checked


def reject_unknown(scope: Scope, known: Collection[str] = ()) -> None:
    """Raise RequestError if the query has an unknown parameter."""
    query: bytes = scope["query_string"]
    if not query:
        return
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
            names = f"It takes {', '.join(sorted(known))}." if known else "It takes none."
            words = f"{scope['method']} {scope['path']} has no query parameter {shown!r}. {names}"
            raise RequestError(Code.UNKNOWN_FIELD, words, shown)
