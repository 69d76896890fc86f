"""Upstreams: all upstreams of the process, and which of them serve a model."""

import asyncio
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial

from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError, UpstreamError
from signalbox.core.params import Params
from signalbox.core.parts import Bill
from signalbox.services.upstreams.file import RouteEntry
from signalbox.services.upstreams.route import Route, Target
from signalbox.services.upstreams.server import Server

_NO_BILLS = "This upstream has no endpoint for final costs."


class Upstreams:
    """The upstreams, by name, and the routes between them. Without upstreams.toml there is one, without a name."""

    def __init__(self, servers: Sequence[Server], routes: Sequence[RouteEntry] = ()) -> None:
        self._servers = {server.entry.name: server for server in servers}
        self._routes = tuple(routes)
        self._retired: list[Server] = []
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def servers(self) -> list[Server]:
        """All upstreams, in the order of the file."""
        return [*self._servers.values()]

    def serving(self, model: str) -> tuple[list[Server], str]:
        """Return the upstreams that serve a model, in the order of fallback, and the model without a forced upstream.

        Those whose list lacks the model are left out, unless all lack it. Without a route, the first upstream that
        lists the model serves it; if none does, the first that may know it.
        """
        servers, requested = self.candidates(model)
        known = [server for server in servers if server.may_know(server.entry.name_of(requested))] or servers
        if self._route_of(model):
            return known, requested
        listing = [server for server in known if server.lists(server.entry.name_of(requested))]
        return (listing or known)[:1], requested

    def candidates(self, model: str) -> tuple[list[Server], str]:
        """Return the upstreams whose patterns match a model, and the model without a forced upstream.

        `name@model` forces one upstream. Without a route, all upstreams of the file are candidates.
        """
        name, at, rest = model.partition("@")
        if at and name and name in self._servers:
            return [server for server in (self._servers[name],) if server.entry.serves(rest)], rest
        route = self._route_of(model)
        servers = [self._servers[name] for name in route.use] if route else self.servers
        return [server for server in servers if server.entry.serves(model)], model

    def _route_of(self, model: str) -> RouteEntry | None:
        return next((route for route in self._routes if fnmatchcase(model, route.models)), None)

    def check_serves(self, model: str) -> None:
        """Raise RequestError if no upstream serves the model."""
        if not self.serving(model)[0]:
            name, at, rest = model.partition("@")
            words = f"No upstream of upstreams.toml serves the model {model[:100]!r}."
            if at and name in self._servers:
                words = f"The upstream {name!r} does not serve the model {rest[:100]!r}."
            raise RequestError(Code.UNKNOWN_MODEL, words, "model")

    def route(self, model: str, params: Params) -> Route:
        """Return the route of a run; raises RequestError if no upstream serves the model."""
        self.check_serves(model)
        servers, requested = self.serving(model)
        for server in servers:
            server.users += 1
        fallbacks = params.fallbacks or ()
        return Route(
            [_target(server, requested, fallbacks) for server in servers], params, partial(self._release, servers)
        )

    def replace(self, servers: Sequence[Server], routes: Sequence[RouteEntry]) -> None:
        """Use other upstreams for new runs. Those that are left out are closed when their last run has ended."""
        retired = [server for server in self.servers if server not in servers]
        self._servers = {server.entry.name: server for server in servers}
        self._routes = tuple(routes)
        self._retired += retired
        for server in retired:
            server.is_retired = True
            self._close_unused(server)

    def _release(self, servers: Sequence[Server]) -> None:
        for server in servers:
            server.users -= 1
            self._close_unused(server)

    def _close_unused(self, server: Server) -> None:
        if server.is_retired and not server.users and server in self._retired:
            self._retired.remove(server)
            task = asyncio.create_task(server.http.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def without_costs(self, model: str) -> list[str]:
        """Return the upstreams on a model's route whose costs cannot be known: no report, and no price of the model."""
        servers, requested = self.serving(model)
        silent = [server for server in servers if not server.client.dialect.reports_costs]
        return [server.entry.name for server in silent if _prices(server, requested) is None]

    @property
    def has_bills(self) -> bool:
        """Whether any upstream reports final costs after the answer."""
        return any(server.client.dialect.bill is not None for server in self.servers)

    async def bill(self, generation_id: str, upstream: str) -> Bill | None:
        """Return the cost of a generation, None while it is unknown. Raises UpstreamError."""
        server = self._servers.get(upstream)
        if server is None or server.client.dialect.bill is None:
            raise UpstreamError(Code.UPSTREAM_REJECTED, _NO_BILLS)
        return await server.client.bill(generation_id)

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.gather(*self._closing, *(server.http.aclose() for server in [*self.servers, *self._retired]))


def _target(server: Server, requested: str, fallbacks: Sequence[str]) -> Target:
    entry = server.entry
    model = entry.name_of(requested)
    others = {one: prices for one in fallbacks if (prices := _prices(server, one)) is not None}
    return Target(entry.name, server.client, server.breaker, model, requested, _prices(server, requested), others)


def _prices(server: Server, requested: str) -> Prices | None:
    """Return the prices of a model by the file, else by the upstream's list."""
    prices = server.entry.prices_of(requested)
    if prices is not None:
        return prices
    facts = server.facts_of(server.entry.name_of(requested))
    return facts.prices if facts is not None else None
