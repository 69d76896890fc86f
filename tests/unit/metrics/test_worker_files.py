"""The files of several workers: sums survive a worker, gauges do not, and the number of files stays small."""

import fcntl
import os
import sys
import tempfile
from math import inf
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from signalbox.metrics.instruments import Instruments
from signalbox.metrics.worker_files import WorkerFiles, claim_number, remove_leftovers, shared_by_workers

from tests.support.metrics import Scrape
from tests.support.processes import WAIT

# A supervisor with one worker, which ends with its input.
_SERVER = """
import os, sys
from signalbox.metrics.worker_files import shared_by_workers
with shared_by_workers():
    if os.fork() == 0:
        print("works", flush=True)
        sys.stdin.read()
        os._exit(0)
    os.wait()
"""


def write(folder: Path, file: str, name: str, value: float, at: float = 0.0, **labels: str) -> None:
    """Write a value as a worker does, set at some time."""
    sample = name.removesuffix("_bucket") if "le" in labels else name.removesuffix("_total")
    written = MmapedDict(str(folder / file))
    written.write_value(mmap_key(sample, name, list(labels), list(labels.values()), "Help."), value, at)
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


def test_the_newest_check_of_an_upstream_counts(files: WorkerFiles, tmp_path: Path) -> None:
    """Whichever worker made it: others may not have sent a request since."""
    for pid, first, second in ((1, (0.0, 100.0), (1.0, 300.0)), (2, (1.0, 200.0), (0.0, 400.0))):
        for upstream, (value, at) in {"first": first, "second": second}.items():
            name = "signalbox_upstream_available"
            write(tmp_path, f"gauge_livemostrecent_{pid}.db", name, value, at=at, upstream=upstream)
    found = scraped(files)
    assert [found.total("upstream_available", upstream=name) for name in ("first", "second")] == [1, 0]
    assert vars(Instruments().breakers)["_multiprocess_mode"] == "livemostrecent"


def test_an_upstream_that_a_reload_has_removed_is_left_out(files: WorkerFiles, tmp_path: Path) -> None:
    """The files of workers only grow, so a removed series is infinite there; a later value counts."""
    for pid, values in ((1, {"removed": 1.0, "first": inf}), (2, {"removed": inf, "first": 1.0})):
        for upstream, value in values.items():
            name = "signalbox_upstream_available"
            write(tmp_path, f"gauge_livemostrecent_{pid}.db", name, value, at=float(pid), upstream=upstream)
    assert scraped(files).labels("upstream_available") == [{"upstream": "first"}]


def test_metrics_of_the_host_are_left_out(files: WorkerFiles, tmp_path: Path) -> None:
    """The host of an embedded app may have set the same folder for its own metrics."""
    before = {name for name, _, _ in scraped(files).samples()}
    write(tmp_path, "counter_3.db", "host_requests_total", 5.0, path="/secret")
    assert {name for name, _, _ in scraped(files).samples()} == {*before}


def test_folders_of_dead_processes_are_removed(tmp_path: Path) -> None:
    """Of those whose lock is free, as after `kill -9`; folders in use, incomplete ones and others stay."""
    for name in ("signalbox-metrics-dead", "signalbox-metrics-living", "other-dead"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "owner").touch()
        (tmp_path / name / "counter_1.db").touch()
    (tmp_path / "signalbox-metrics-new").mkdir()
    (tmp_path / "signalbox-metrics-link").symlink_to(tmp_path / "other-dead")
    with (tmp_path / "signalbox-metrics-living/owner").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        remove_leftovers(tmp_path)
    left = {"signalbox-metrics-living", "signalbox-metrics-new", "signalbox-metrics-link", "other-dead"}
    assert {one.name for one in tmp_path.iterdir()} == left


def test_a_folder_stays_until_the_last_worker_of_a_killed_server_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The supervisor is killed; its worker still counts, until it ends too."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Popen([sys.executable, "-c", _SERVER], stdin=PIPE, stdout=PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stdout.readline() == "works\n"
        server.kill()
        server.wait(WAIT)
        remove_leftovers(tmp_path)
        assert len([*tmp_path.glob("signalbox-metrics-*")]) == 1
        server.stdin.close()
        assert server.stdout.read() == ""  # the worker has ended
        remove_leftovers(tmp_path)
    assert [*tmp_path.glob("signalbox-metrics-*")] == []


def test_a_stop_removes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a start removes what others have left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "signalbox-metrics-dead").mkdir()
    (tmp_path / "signalbox-metrics-dead/owner").touch()
    with shared_by_workers():
        remove_leftovers(tmp_path)
        assert len([*tmp_path.iterdir()]) == 1
    assert [*tmp_path.iterdir()] == []


def test_a_number_is_free_again_when_its_process_has_ended(tmp_path: Path) -> None:
    """So that there are no more numbers than workers."""
    numbers = [claim_number(tmp_path), claim_number(tmp_path), claim_number(tmp_path)]
    assert numbers == [1, 2, 3]
    for file in Path("/proc/self/fd").iterdir():
        if file.is_symlink() and file.readlink() == tmp_path / "worker_2":
            os.close(int(file.name))  # as the end of its process does
    assert [claim_number(tmp_path), claim_number(tmp_path)] == [2, 4]


def test_a_file_that_is_being_created_is_no_fault(files: WorkerFiles, tmp_path: Path) -> None:
    """A scrape may see it while it is empty."""
    (tmp_path / "counter_4.db").touch()
    assert scraped(files).total("runs_total") == 30
    files.absorb(4)
    assert scraped(files).total("runs_total") == 30
