"""CPU time, memory and open files of a process."""

import os
import time

import pytest
from prometheus_client import generate_latest
from signalbox.metrics.instruments import Instruments
from signalbox.metrics.metrics import Metrics
from signalbox.metrics.process_metrics import ProcessMetrics

from tests.support.metrics import Scrape


class Clock:
    """A clock that the test advances."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_values_are_those_of_this_process() -> None:
    """By the number of the worker."""
    instruments = Instruments()
    ProcessMetrics(instruments, "2").sample()
    found = Scrape(generate_latest(instruments.registry).decode())
    assert {labels["worker"] for labels in found.labels("process_open_fds")} == {"2"}
    assert found.total("process_resident_memory_bytes") > 1_000_000
    assert found.total("process_cpu_seconds_total") == pytest.approx(sum(os.times()[:2]), abs=1)
    assert 3 <= found.total("process_open_fds") < found.total("process_max_fds")
    assert 0 <= time.time() - found.total("process_start_time_seconds") < 24 * 3600


def test_they_are_sampled_every_five_seconds() -> None:
    """Also if scrapes and other workers ask more often."""
    instruments, clock = Instruments(), Clock()
    process = ProcessMetrics(instruments, "1", clock)
    process.sample()
    first = _open_files(instruments)
    read, write = os.pipe()
    try:
        clock.now += 4.9
        process.sample()
        assert _open_files(instruments) == first
        clock.now += 0.1
        process.sample()
        assert _open_files(instruments) == first + 2
    finally:
        os.close(read)
        os.close(write)


def _open_files(instruments: Instruments) -> float:
    value = instruments.registry.get_sample_value("signalbox_process_open_fds", {"worker": "1"})
    assert value is not None
    return value


def test_an_embedded_app_leaves_them_to_its_host() -> None:
    """The process has one host, but may have several apps."""
    metrics = Metrics(models=(), only_upstream="default", version="1", is_embedded=True)
    found = Scrape(generate_latest(metrics.all.registry).decode())
    assert found.labels("process_open_fds") == []
