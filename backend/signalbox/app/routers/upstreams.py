"""/api/upstreams: the state of each upstream, and the reload of upstreams.toml."""

from urllib.parse import urlsplit

from fastapi import APIRouter

from signalbox.app.access import Caller, CallerDep
from signalbox.app.audit.entries import actor_of
from signalbox.app.config import SettingsError
from signalbox.app.deps import Services, ServicesDep
from signalbox.app.openapi.document import api_errors, json_response
from signalbox.app.openapi.response_types import UpstreamList, UpstreamState
from signalbox.app.request.query_parameters import KnownParameters
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.services.upstreams.server import Server

router = APIRouter(prefix="/api/upstreams", tags=["upstreams"], route_class=KnownParameters)


@router.get("", response_model=None, responses={200: json_response(UpstreamList), **api_errors()})
async def list_upstreams(services: ServicesDep, caller: CallerDep) -> UpstreamList:
    """List the upstreams and the states of their circuit breakers; needs the operator token."""
    _check_operator(caller)
    return _listed(services)


@router.post("/reload", response_model=None, responses={200: json_response(UpstreamList), **api_errors()})
async def reload_upstreams(services: ServicesDep, caller: CallerDep) -> UpstreamList:
    """Read upstreams.toml again; needs the operator token.

    New runs use the new upstreams. Active runs keep theirs. An invalid file changes nothing.
    """
    _check_operator(caller)
    try:
        await services.reload_upstreams.run(actor_of(caller))
    except SettingsError as error:
        raise RequestError(Code.INVALID_REQUEST, str(error)) from None
    return _listed(services)


def _check_operator(caller: Caller) -> None:
    if not caller.is_operator:
        words = "The upstreams require the operator token (SIGNALBOX_ADMIN_TOKEN)."
        raise RequestError(Code.UNAUTHORIZED, words, "Authorization")


def _listed(services: Services) -> UpstreamList:
    return {"upstreams": [_state_of(server) for server in services.upstreams.servers]}


def _state_of(server: Server) -> UpstreamState:
    entry, breaker = server.entry, server.breaker
    return {
        "name": entry.name,
        "dialect": entry.dialect,
        "host": _host_of(entry.base_url),
        "state": breaker.state,
        "consecutive_failures": breaker.consecutive_failures,
        "last_error": str(breaker.last_error) if breaker.last_error else None,
        "since": breaker.since,
    }


def _host_of(base_url: str) -> str:
    """Return host and port, not the credentials that a URL may contain."""
    parts = urlsplit(base_url)
    return f"{parts.hostname}:{parts.port}" if parts.port else f"{parts.hostname}"
