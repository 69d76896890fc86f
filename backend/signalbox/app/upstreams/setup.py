"""Makes the upstreams that the settings name: those of upstreams.toml, or one of OPENROUTER_BASE_URL."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from hashlib import blake2b
from pathlib import Path

from signalbox.app.config import Settings, SettingsError
from signalbox.services.catalog import Catalog, ModelCatalog
from signalbox.services.http.client import HttpClient
from signalbox.services.upstream import UpstreamClient
from signalbox.services.upstreams.catalog import MergedCatalog
from signalbox.services.upstreams.circuit_breaker import CircuitBreaker
from signalbox.services.upstreams.file import LoadedUpstreams, UpstreamEntry, UpstreamsFileError, load_upstreams
from signalbox.services.upstreams.registry import Upstreams
from signalbox.services.upstreams.server import Defaults, Server, connect
from signalbox.wire.dialect import Upstream
from signalbox.wire.dialects import upstream_at

_SPARE_CONNECTIONS = 100


def read_upstreams_file(settings: Settings) -> LoadedUpstreams | None:
    """Return the file SIGNALBOX_UPSTREAMS with its keys, None if there is none; raises SettingsError."""
    path = settings.signalbox_upstreams
    if path is None:
        return None
    try:
        return load_upstreams(path, settings.variable)
    except UpstreamsFileError as error:
        raise SettingsError(f"SIGNALBOX_UPSTREAMS: {error}") from None


def open_upstreams(
    settings: Settings, loaded: LoadedUpstreams | None, folder: Path, stack: AsyncExitStack
) -> tuple[Upstreams, Catalog]:
    """Return the upstreams and the catalogue of their models; `stack` closes their connections."""
    if loaded is not None:
        upstreams = Upstreams(servers_of(settings, loaded, folder), loaded.file.route)
        catalog: Catalog = MergedCatalog(upstreams)
    else:
        client, http, catalog = _single_upstream(settings, folder, stack)
        entry = UpstreamEntry(name="", dialect=client.dialect.name, base_url=settings.openrouter_base_url)
        upstreams = Upstreams([Server(entry, http, client, catalog, CircuitBreaker())])
    stack.push_async_callback(upstreams.aclose)
    return upstreams, catalog


def servers_of(
    settings: Settings, loaded: LoadedUpstreams, folder: Path, present: Sequence[Server] = ()
) -> list[Server]:
    """Return the upstreams of the file; timeouts that the file does not set are those of the settings.

    An upstream that is `present` with the same entry and key keeps its connections and its circuit breaker.
    """
    known = {server.entry.name: server for server in present}
    defaults = Defaults(
        connect_timeout=settings.openrouter_connect_timeout,
        idle_timeout=settings.openrouter_timeout,
        progress_timeout=settings.openrouter_progress_timeout,
        max_connections=_connections(settings),
        folder=folder,
        referer=settings.openrouter_http_referer,
        title=settings.openrouter_x_title,
    )
    servers: list[Server] = []
    for entry in loaded.file.upstream:
        key, before = loaded.keys.get(entry.name), known.get(entry.name)
        if before is not None and (before.entry, before.key) == (entry, key):
            servers.append(before)
        else:
            servers.append(connect(entry, key, defaults))
    return servers


def upstream_of(settings: Settings, base_url: str) -> Upstream:
    """Return the upstream: its base URL, the API key and the headers that name the app."""
    key = settings.openrouter_api_key
    return upstream_at(
        base_url,
        key.get_secret_value() if key else None,
        referer=settings.openrouter_http_referer,
        title=settings.openrouter_x_title,
    )


def _single_upstream(
    settings: Settings, folder: Path, stack: AsyncExitStack
) -> tuple[UpstreamClient, HttpClient, ModelCatalog]:
    """Return the client of OPENROUTER_BASE_URL, or of the simulator."""
    base_url = settings.openrouter_base_url
    if settings.is_simulated:
        from signalbox.simulator.http.server import BackgroundSimulator  # not imported where there is a key

        base_url = stack.enter_context(BackgroundSimulator(pace=settings.signalbox_simulator_pace)).base_url
    http = HttpClient(
        connect_timeout=settings.openrouter_connect_timeout,
        idle_timeout=settings.openrouter_timeout,
        max_connections=_connections(settings),
    )
    progress_timeout = settings.openrouter_progress_timeout
    client = UpstreamClient(http, upstream_of(settings, base_url), progress_timeout=progress_timeout)
    return client, http, _catalog(settings, client, folder)


def _connections(settings: Settings) -> int:
    """Return the number of connections: one per run, and some for the catalogue and costs, so that no run waits."""
    return settings.signalbox_max_runs + _SPARE_CONNECTIONS


def _catalog(settings: Settings, upstream: UpstreamClient, folder: Path) -> ModelCatalog:
    """Make the catalogue, with one cache file per upstream."""
    address = "simulator" if settings.is_simulated else settings.openrouter_base_url
    name = blake2b(address.encode(), digest_size=6).hexdigest()
    path = folder / f"models-{name}.json"
    catalog = ModelCatalog(upstream.models, upstream.dialect, path, by_family=settings.is_simulated)
    if not settings.is_simulated:
        catalog.load()
    return catalog
