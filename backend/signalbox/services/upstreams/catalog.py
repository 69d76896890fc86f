"""MergedCatalog: the models of all upstreams, under the ids that clients use."""

import asyncio
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import ModelFacts
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.offload import offloaded
from signalbox.services.upstreams.file import UpstreamEntry
from signalbox.services.upstreams.registry import Upstreams
from signalbox.services.upstreams.server import Server
from signalbox.wire.pricing import pricing_of

Listed = tuple[UpstreamEntry, list[ModelFacts]]


class MergedCatalog:
    """The catalogue of several upstreams. A model that several of them serve has the facts of the first."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams
        self._sources: list[Listed] = []
        self._merged: list[ModelFacts] = []

    async def entries(self) -> tuple[list[ModelFacts], float]:
        """Return the models, and when the newest list was fetched (epoch seconds, 0: never)."""
        servers = self._upstreams.servers
        found = await asyncio.gather(*(server.models() for server in servers))
        sources = [(server.entry, models) for server, (models, _) in zip(servers, found, strict=True)]
        if not _are_same(sources, self._sources):
            self._merged = await offloaded(partial(_merged, sources, self._upstreams), size=LARGE)
            self._sources = sources
        return self._merged, max((fetched for _, fetched in found), default=0.0)

    async def check(self, model: str) -> None:
        """Raise RequestError for a model that no upstream serves, or that no upstream on its route lists."""
        self._upstreams.check_serves(model)
        servers, requested = self._upstreams.candidates(model)
        for server in servers:
            if await server.knows(server.entry.name_of(requested)):
                return
        forced = requested != model
        who = f"The upstream {servers[0].entry.name!r} does not list" if forced else "No upstream lists"
        words = f"{who} the model {requested[:100]!r}."
        raise RequestError(Code.UNKNOWN_MODEL, words, "model")

    def entry(self, model: str) -> ModelFacts | None:
        """Return the facts of a model at the first upstream on its route that lists it, with the prices of the file."""
        servers, requested = self._upstreams.serving(model)
        for server in servers:
            if (facts := server.facts_of(server.entry.name_of(requested))) is not None:
                return _named(facts, requested, server.entry)
        prices = (server.entry.prices_of(requested) for server in servers)
        known = next((price for price in prices if price is not None), None)
        return ModelFacts(model, model, prices=known) if known is not None else None


def _are_same(sources: Sequence[Listed], others: Sequence[Listed]) -> bool:
    """Return whether the lists are the very same objects; a refreshed list is a new one."""
    if len(sources) != len(others):
        return False
    return all(
        entry is other and models is earlier for (entry, models), (other, earlier) in zip(sources, others, strict=True)
    )


def _merged(sources: Sequence[Listed], upstreams: Upstreams) -> list[ModelFacts]:
    """Return the models that can be requested, each with the upstreams that serve it, in the order of fallback."""
    found: dict[str, dict[str, ModelFacts]] = {}
    for entry, models in sources:
        for facts in models:
            for model in entry.models_of(facts.id):
                found.setdefault(model, {})[entry.name] = _named(facts, model, entry)
    for server in upstreams.servers:
        # An alias of a listed model, such as Anthropic's ids without a date, is in no list.
        for model in (model for model in server.entry.rename if server.entry.serves(model)):
            if not model.endswith("*") and _alias_at(server, model) is not None:
                found.setdefault(model, {})
    merged: list[ModelFacts] = []
    for model, listed in found.items():
        known = [
            (server.entry.name, facts)
            for server in upstreams.serving(model)[0]
            if (facts := listed.get(server.entry.name) or _alias_at(server, model)) is not None
        ]
        if known:
            merged.append(replace(known[0][1], upstreams=tuple(name for name, _ in known)))
    return merged


def _alias_at(server: Server, model: str) -> ModelFacts | None:
    """Return the facts of a model that the upstream lists under another id."""
    facts = server.facts_of(server.entry.name_of(model))
    return None if facts is None else _named(facts, model, server.entry)


def _named(facts: ModelFacts, model: str, entry: UpstreamEntry) -> ModelFacts:
    """Return the facts under the id that clients use, with the prices of the file."""
    prices = entry.prices_of(model)
    if prices is None:
        return facts if facts.id == model else replace(facts, id=model)
    return replace(facts, id=model, prices=prices, pricing=pricing_of(prices))
