"""The files of several workers: sums survive a worker, gauges do not, and the number of files stays small."""

from math import inf
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from signalbox.metrics.worker_files import WorkerFiles

from tests.support.metrics import Scrape


def write(folder: Path, file: str, name: str, value: float, **labels: str) -> None:
    """Write a value as a worker does."""
    sample = name.removesuffix("_bucket") if "le" in labels else name.removesuffix("_total")
    written = MmapedDict(str(folder / file))
    written.write_value(mmap_key(sample, name, list(labels), list(labels.values()), "Help."), value, 0.0)
    written.close()


def scraped(files: WorkerFiles) -> Scrape:
    """Return what a scrape returns."""
    registry = CollectorRegistry()
    registry.register(files)
    return Scrape(generate_latest(registry).decode())


@pytest.fixture
def files(tmp_path: Path) -> WorkerFiles:
    """Return the files of two workers."""
    for pid in (1, 2):
        write(tmp_path, f"counter_{pid}.db", "signalbox_runs_total", 10.0 * pid, code="ok")
        write(tmp_path, f"histogram_{pid}.db", "signalbox_run_seconds_bucket", float(pid), le="1.0")
        write(tmp_path, f"histogram_{pid}.db", "signalbox_run_seconds_bucket", 4.0, le="+Inf")
        write(tmp_path, f"gauge_livesum_{pid}.db", "signalbox_live_runs", 5.0)
    return WorkerFiles(tmp_path)


def test_the_values_of_all_workers_add_up(files: WorkerFiles) -> None:
    """Counters, buckets and gauges."""
    found = scraped(files)
    assert found.total("runs_total", code="ok") == 30
    assert [found.total("run_seconds_bucket", le=le) for le in ("1.0", "+Inf")] == [3, 11]
    assert found.total("live_runs") == 10


def test_sums_survive_their_worker(files: WorkerFiles, tmp_path: Path) -> None:
    """However many workers die, one file per kind holds their sums; their gauges are gone."""
    before = scraped(files).counters()
    files.absorb(1)
    assert scraped(files).counters() == before
    assert scraped(files).total("live_runs") == 5
    files.absorb(2)
    files.absorb(3)  # it never counted anything
    assert scraped(files).counters() == before
    assert sorted(file.name for file in tmp_path.glob("*.db")) == ["counter_dead.db", "histogram_dead.db"]


def test_a_gauge_that_every_worker_has_removed_is_left_out(files: WorkerFiles, tmp_path: Path) -> None:
    """The files of workers only grow, so a removed series is infinite there; another worker's value counts."""
    for pid, first in ((1, inf), (2, inf)):
        write(tmp_path, f"gauge_livemin_{pid}.db", "signalbox_upstream_available", first, upstream="removed")
    for pid, first in ((1, inf), (2, 0.0)):
        write(tmp_path, f"gauge_livemin_{pid}.db", "signalbox_upstream_available", first, upstream="first")
    found = scraped(files)
    assert found.labels("upstream_available") == [{"upstream": "first"}]
    assert found.total("upstream_available") == 0


def test_a_file_that_is_being_created_is_no_fault(files: WorkerFiles, tmp_path: Path) -> None:
    """A scrape may see it while it is empty."""
    (tmp_path / "counter_4.db").touch()
    assert scraped(files).total("runs_total") == 30
    files.absorb(4)
    assert scraped(files).total("runs_total") == 30
