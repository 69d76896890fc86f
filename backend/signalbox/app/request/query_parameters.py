"""Endpoints of the API reject query parameters that are unknown, repeated or not valid.

A misspelt filter, or one of a newer version, would otherwise return everything. `/health`, the pages and their files
accept any parameter, since probes and caches add their own.
"""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, get_origin
from urllib.parse import parse_qsl

from fastapi import Request, Response
from fastapi import params as kinds
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from starlette.types import Scope

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.intakes.validation import reason_of

_SHOWN = 60


class KnownParameters(APIRoute):
    """A route that rejects query parameters that its endpoint does not declare, before it is called."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the names before the endpoint is called."""
        handle = super().get_route_handler()
        found = [one for one in get_flat_params(self.dependant) if isinstance(one.field_info, kinds.Query)]
        known = [one.alias for one in found]
        several = {one.alias for one in found if get_origin(one.field_info.annotation) is tuple}

        async def checked(request: Request) -> Response:
            reject_unknown(request.scope, known)
            _reject_repeated(request, several)
            return await handle(request)

        return checked


def reject_unknown(scope: Scope, known: Collection[str] = ()) -> None:
    """Raise RequestError if the query has an unknown parameter."""
    query: bytes = scope["query_string"]
    if not query:
        return
    for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            shown = _shortened(name)
            names = f"It takes {', '.join(sorted(known))}." if known else "It takes none."
            words = f"{scope['method']} {scope['path']} has no query parameter {shown!r}. {names}"
            raise RequestError(Code.UNKNOWN_FIELD, words, shown)


def _reject_repeated(request: Request, several: Collection[str]) -> None:
    """Raise RequestError if a parameter with one value has several: only the last one would count."""
    for name in request.query_params:
        if name not in several and len(request.query_params.getlist(name)) > 1:
            raise RequestError(Code.INVALID_REQUEST, f"{name} takes one value. Send it once.", name)


def parameter_fault(faults: Sequence[Mapping[str, Any]]) -> RequestError:
    """Return an error that names the parameter of FastAPI's first error, as the client has written it."""
    fault = faults[0]
    field = str(fault["loc"][1])  # ("query", "status", 0)
    return RequestError(Code.INVALID_REQUEST, f"{field}: {_parameter_reason(fault)}.", field)


def _parameter_reason(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "literal_error":
        return f"must be {fault['ctx']['expected']}, not {_shortened(str(fault['input']))!r}"
    return reason_of(fault)


def _shortened(words: str) -> str:
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
