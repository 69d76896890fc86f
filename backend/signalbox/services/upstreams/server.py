"""One upstream that requests can be sent to: its entry, its connections, its client and its models."""

from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from signalbox.core.catalog import ModelFacts
from signalbox.services.catalog import ModelCatalog
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.services.upstreams.circuit_breaker import CircuitBreaker
from signalbox.services.upstreams.file import UpstreamEntry
from signalbox.wire.dialect import Upstream
from signalbox.wire.dialects import DIALECTS


@dataclass(frozen=True, slots=True)
class Defaults:
    """What an entry does not say: timeouts in seconds, the number of connections, and how the app names itself.

    `folder` is where the lists of models are stored.
    """

    connect_timeout: float
    idle_timeout: float
    progress_timeout: float
    max_connections: int
    folder: Path
    referer: str | None = None
    title: str | None = None


@dataclass(slots=True, eq=False)
class Server:
    """An upstream of the file. `catalog` is None if the file lists its models, which are then in `listed`.

    `users` counts the runs that may send requests to it. Its connections are closed when it `is_retired`, after a
    reload, and has no user.
    """

    entry: UpstreamEntry
    http: HttpClient
    client: UpstreamClient
    catalog: ModelCatalog | None
    breaker: CircuitBreaker
    key: str | None = field(default=None, repr=False)
    listed: list[ModelFacts] = field(default_factory=list[ModelFacts])
    users: int = 0
    is_retired: bool = False

    async def models(self) -> tuple[list[ModelFacts], float]:
        """Return the upstream's models under its own ids, and when they were fetched (epoch seconds, 0: never)."""
        if self.catalog is None:
            return self.listed, 0.0
        return await self.catalog.entries()

    async def knows(self, model: str) -> bool:
        """Return whether the upstream lists a model, by its own id; an upstream without a list may know every one."""
        if self.catalog is None:
            return model in (self.entry.listed or ())
        return await self.catalog.knows(model)

    def may_know(self, model: str) -> bool:
        """Return what is known without a request: false if the upstream has a list that lacks the model."""
        if self.catalog is None:
            return model in (self.entry.listed or ())
        return self.catalog.may_list(model)

    def lists(self, model: str) -> bool:
        """Return whether the list that is known now has a model."""
        return self.may_know(model) if self.catalog is None else self.catalog.entry(model) is not None

    def facts_of(self, model: str) -> ModelFacts | None:
        """Return the facts of a model, by the upstream's id."""
        return self.catalog.entry(model) if self.catalog is not None else None


def connect(entry: UpstreamEntry, key: str | None, defaults: Defaults) -> Server:
    """Make the client of an upstream; it connects with its first request."""
    http = HttpClient(
        connect_timeout=entry.connect_timeout or defaults.connect_timeout,
        idle_timeout=entry.timeout or defaults.idle_timeout,
        max_connections=defaults.max_connections,
        proxy=entry.proxy,
    )
    dialect = DIALECTS[entry.dialect]
    server = Upstream(dialect, entry.base_url, key, defaults.referer, defaults.title)
    progress_timeout = entry.progress_timeout or defaults.progress_timeout
    client = UpstreamClient(http, server, entry.headers, progress_timeout=progress_timeout)
    if entry.listed is not None:
        listed = [ModelFacts(name, name) for name in entry.listed]
        return Server(entry, http, client, None, CircuitBreaker(), key, listed)
    return Server(entry, http, client, _catalog(entry, client, defaults.folder), CircuitBreaker(), key)


def _catalog(entry: UpstreamEntry, client: UpstreamClient, folder: Path) -> ModelCatalog:
    """Make the catalogue, with one cache file per upstream."""
    address = f"{entry.name} {entry.base_url}"
    name = blake2b(address.encode(), digest_size=6).hexdigest()
    catalog = ModelCatalog(client.models, client.dialect, folder / f"models-{name}.json")
    catalog.load()
    return catalog
