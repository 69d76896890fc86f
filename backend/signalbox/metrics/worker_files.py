"""The files in which several workers keep their values: one folder per host, read by the worker that is scraped.

prometheus-client writes a file per worker and kind of metric. The supervisor adds up the counters of dead workers, so
that counters never fall and the number of files does not grow.
"""

import fcntl
import os
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

# The variable that tells prometheus-client the folder.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_LOCK = "lock"
# In place of a pid. No worker has it.
_DEAD = "dead"
# Their values are sums, so those of dead workers still count. A gauge is about a worker that lives.
_SUMS = ("counter", "histogram")


class WorkerFiles(Collector):
    """The values of all workers of a host, living and dead."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        """Add up the files; waits while those of a dead worker are absorbed."""
        with self._locked(fcntl.LOCK_SH):
            # A file is empty for a moment when its worker creates it.
            files = [str(file) for file in self._folder.glob("*.db") if file.stat().st_size]
            merged = MultiProcessCollector.merge(files)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            return [*map(_without_removed, cast("Iterable[Metric]", merged))]

    def absorb(self, pid: int) -> None:
        """Add the sums of a dead worker to those of earlier ones, and remove its files."""
        with self._locked(fcntl.LOCK_EX):
            for kind in _SUMS:
                file = self._folder / f"{kind}_{pid}.db"
                if file.exists():
                    self._add(file, self._folder / f"{kind}_{_DEAD}.db")
                    file.unlink()
            for gauge in self._folder.glob(f"gauge_*_{pid}.db"):
                gauge.unlink()

    def _add(self, file: Path, to: Path) -> None:
        """Add the values of a file to another one, which is replaced at once."""
        totals: defaultdict[str, float] = defaultdict(float)
        for one in (to, file):
            if one.exists() and one.stat().st_size:
                for key, value in _values_of(one):
                    totals[key] += value
        new = to.with_suffix(".new")
        new.unlink(missing_ok=True)
        written = MmapedDict(str(new))
        for key, value in totals.items():
            written.write_value(key, value, 0.0)  # pyright: ignore[reportUnknownMemberType] - has no types
        written.close()
        new.replace(to)

    @contextmanager
    def _locked(self, how: int) -> Generator[None]:
        with (self._folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, how)
            yield


def _without_removed(metric: Metric) -> Metric:
    """Leave out what every worker has removed: the smallest value of a gauge is then infinite."""
    if metric.type == "gauge":
        metric.samples = [sample for sample in metric.samples if sample.value != inf]
    return metric


def _values_of(file: Path) -> Iterator[tuple[str, float]]:
    written = MmapedDict(str(file), read_mode=True)
    try:
        entries = written.read_all_values()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        for key, value, _ in cast("Iterable[tuple[str, float, float]]", entries):
            yield key, value
    finally:
        written.close()


@contextmanager
def shared_by_workers() -> Generator[WorkerFiles]:
    """Have the processes that are forked in this block keep their values in one folder, which is then removed."""
    with TemporaryDirectory(prefix="signalbox-metrics-") as name:
        os.environ[VARIABLE] = name
        try:
            yield WorkerFiles(Path(name))
        finally:
            del os.environ[VARIABLE]


def folder_of_this_process() -> Path | None:
    """Return the folder in which this process keeps its values; None if it keeps them in memory."""
    name = os.environ.get(VARIABLE)
    return Path(name) if name else None
