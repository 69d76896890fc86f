"""Metrics: everything that one process measures, and its text for Prometheus."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from math import inf
from typing import TypeAlias

from prometheus_client import CollectorRegistry, disable_created_metrics, values
from prometheus_client.exposition import choose_encoder

from signalbox.core.codes import Code
from signalbox.metrics.counters import Counters
from signalbox.metrics.instruments import Instruments
from signalbox.metrics.process_metrics import ProcessMetrics
from signalbox.metrics.run_metrics import RunMetrics
from signalbox.metrics.worker_files import WorkerFiles, claim_number, folder_of_this_process
from signalbox.profiles import profile_for

# Between two samples of the gauges, if other workers may be scraped instead of this one.
_SAMPLE_SECONDS = 1.0

# Whether an upstream is available, and when this process last checked it by a request.
Availability: TypeAlias = tuple[bool, float | None]


class Metrics(Counters):
    """Counts what belongs to no run; `runs` counts the runs. `sample` sets the gauges, and is called before a scrape.

    If the process is the host's (`is_embedded`), the settings of its Prometheus library are not changed.
    """

    def __init__(self, *, models: Collection[str], only_upstream: str, version: str, is_embedded: bool) -> None:
        if not is_embedded:
            disable_created_metrics()  # they would double the number of counters
        folder = folder_of_this_process()
        if folder is not None and values.ValueClass is values.MutexValue:
            values.ValueClass = values.get_value_class()  # the library was imported before there was a folder
        self.all = Instruments()
        self.runs = RunMetrics(self.all, models, only_upstream)
        self.sample: Callable[[], None] = lambda: None
        self._upstreams: Mapping[str, Availability] = {}
        self._registry = self.all.registry
        if folder is not None:
            self._registry = CollectorRegistry()
            self._registry.register(WorkerFiles(folder))
        self._process: ProcessMetrics | None = None
        if not is_embedded:
            self._process = ProcessMetrics(self.all, str(claim_number(folder) if folder is not None else 1))
        self.all.build.labels(version).set(1)
        # `increase()` does not see a counter that begins at 1.
        for code in (Code.STORE_UNAVAILABLE, Code.INTERNAL):
            self.all.database_errors.labels(str(code))
        for state in ("off", "on", "percent", "none"):
            self.all.overrides.labels(state)

    @property
    def is_shared(self) -> bool:
        """Whether another worker may be scraped instead of this one."""
        return self._registry is not self.all.registry

    def show_upstreams(self, upstreams: Mapping[str, Availability]) -> None:
        """Set whether each upstream is available. Those that a reload has removed disappear.

        Of several workers, the value of the one that has set it last counts. So only what a request has checked is set.
        """
        for name in self._upstreams.keys() - upstreams.keys():
            if self.is_shared:
                self.all.breakers.labels(name).set(inf)  # the files of workers only grow; `WorkerFiles` leaves it out
            else:
                self.all.breakers.remove(name)
        for name, availability in upstreams.items():
            if availability != self._upstreams.get(name):
                self.all.breakers.labels(name).set(availability[0])
        self._upstreams = upstreams

    async def sample_regularly(self) -> None:
        """Set the gauges once a second, for scrapes of other workers."""
        while True:
            self._sample_all()
            await asyncio.sleep(_SAMPLE_SECONDS)

    async def text(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics and their content type: OpenMetrics if the client accepts it."""
        self._sample_all()
        encode, content_type = choose_encoder(accept)
        return await asyncio.to_thread(partial(encode, self._registry)), content_type

    def _sample_all(self) -> None:
        self.sample()
        if self._process is not None:
            self._process.sample()

    def request_refused(self, status: int, code: str | None) -> None:  # noqa: D102
        self.all.refused.labels(status, code or "none").inc()

    def run_resumed(self, result: str) -> None:  # noqa: D102
        self.all.resumes.labels(result).inc()

    def override_stored(self, state: str) -> None:  # noqa: D102
        self.all.overrides.labels(state).inc()

    def database_failed(self, code: str) -> None:  # noqa: D102
        self.all.database_errors.labels(code).inc()

    def journal_flushed(self, seconds: float) -> None:  # noqa: D102
        self.all.flush.observe(seconds)

    def shadow_finished(self, model: str, loop: str, outcome: str, cost: float) -> None:  # noqa: D102
        self.all.shadow_runs.labels(loop, outcome).inc()
        self.all.shadow_cost.labels(loop, profile_for(model).family).inc(max(0.0, cost))
