"""Makes the metrics that the settings ask for, and connects them with the services."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from signalbox import __version__
from signalbox.app.config import Settings
from signalbox.app.deps import Services
from signalbox.app.logs.rejected_requests import RejectionLog
from signalbox.core.errors import StoreError
from signalbox.store.runs.flush_meter import FlushMeter
from signalbox.store.runs.journal import JournalStore

if TYPE_CHECKING:  # loaded only if metrics are on: they need 3 MB
    from signalbox.metrics.metrics import Metrics


def metrics_of(settings: Settings, rejections: RejectionLog, *, is_embedded: bool) -> "Metrics | None":
    """Return the metrics, which count rejected requests; None if no setting makes them readable."""
    if not settings.has_metrics:
        return None
    from signalbox.metrics.metrics import Metrics

    metrics = Metrics(
        models=settings.signalbox_metrics_models,
        only_upstream=settings.only_upstream,
        version=__version__,
        is_embedded=is_embedded,
    )
    rejections.counters = metrics
    return metrics


def counted(services: Services, metrics: "Metrics", stack: AsyncExitStack) -> Services:
    """Return the services so that they count into the metrics, until `stack` closes."""
    gauges, runs, store = metrics.all, services.runs, services.runs.store
    meter = store.meter if isinstance(store, JournalStore) else FlushMeter()
    only_upstream = services.settings.only_upstream

    def sample() -> None:
        gauges.live_runs.set(runs.active_count)
        gauges.max_runs.set(runs.max_active)
        gauges.streams.set(services.streams.open)
        gauges.max_streams.set(services.streams.most)
        gauges.lag.set(meter.lag)
        servers = [(one.entry.name or only_upstream, one.breaker) for one in services.upstreams.servers]
        # A half-open circuit breaker sends a request to an upstream that has not answered yet.
        metrics.show_upstreams({name: (breaker.state == "closed", breaker.checked) for name, breaker in servers})

    def on_database_error(error: StoreError) -> None:
        metrics.database_failed(str(error.code))

    metrics.sample = sample
    services.database.on_error = on_database_error
    meter.on_flush = metrics.journal_flushed
    services.flag_override.on_stored = lambda override: metrics.override_stored(override.state if override else "none")
    if runs.settlements is not None:
        runs.settlements.on_bill = metrics.runs.settled
    if metrics.is_shared:
        stack.callback(asyncio.create_task(metrics.sample_regularly(), name="metrics").cancel)
    return replace(services, counters=metrics)
