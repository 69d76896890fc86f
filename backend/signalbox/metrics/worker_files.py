"""The files in which several workers keep their values: one folder per host, read by the worker that is scraped.

prometheus-client writes a file per worker and kind of metric. The supervisor adds up the counters of dead workers, so
that counters never fall and the number of files does not grow. The folder of a supervisor that was killed is removed
at the next start.
"""

import fcntl
import os
import shutil
import stat
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import cast

from prometheus_client.metrics_core import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

# The variable that tells prometheus-client the folder.
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_LOCK = "lock"
# Folders begin with this name. Each has a file that is locked while its supervisor or one of the workers lives.
_FOLDER = "signalbox-metrics-"
_OWNER = "owner"
# The host of an embedded app may keep its own metrics in the same folder.
_OURS = "signalbox_"
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
            metrics = cast("Iterable[Metric]", merged)
            return [_without_removed(metric) for metric in metrics if metric.name.startswith(_OURS)]

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
    remove_leftovers(Path(gettempdir()))
    with TemporaryDirectory(prefix=_FOLDER) as name, _owned(Path(name)):
        os.environ[VARIABLE] = name
        try:
            yield WorkerFiles(Path(name))
        finally:
            del os.environ[VARIABLE]


@contextmanager
def _owned(folder: Path) -> Generator[None]:
    """Hold the lock of a folder. Forked workers inherit it."""
    new = folder / f"{_OWNER}.new"
    with new.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        new.rename(folder / _OWNER)  # others see the file only once it is locked
        yield


def remove_leftovers(parent: Path) -> None:
    """Remove the folders in `parent` whose processes were all killed."""
    for folder in parent.glob(f"{_FOLDER}*"):
        try:
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            with (folder / _OWNER).open() as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
        except (BlockingIOError, FileNotFoundError):
            continue  # in use, or just being created or removed


def claim_number(folder: Path) -> int:
    """Return the smallest number that no living process of the folder has, from 1; it is free when the process ends.

    A worker that replaces a dead one gets its number, so that there are no more numbers than workers.
    """
    number = 1
    while not _claims(folder / f"worker_{number}"):
        number += 1
    return number


def _claims(path: Path) -> bool:
    """Return whether this process has locked a file that no other process has locked."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)  # open until the process ends, which releases the lock
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    return True


def folder_of_this_process() -> Path | None:
    """Return the folder in which this process keeps its values; None if it keeps them in memory."""
    name = os.environ.get(VARIABLE)
    return Path(name) if name else None
