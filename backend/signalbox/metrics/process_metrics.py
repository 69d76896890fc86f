"""ProcessMetrics: CPU time, memory and open files of this process, from /proc; nothing where there is no /proc."""

from collections.abc import Callable
from math import inf
from time import monotonic

from prometheus_client import ProcessCollector

from signalbox.metrics.instruments import Instruments

# Workers sample every second for scrapes of others. With thousands of sockets, counting the open files takes 1 ms.
_SECONDS = 5.0


class ProcessMetrics:
    """Sets the metrics of this process; `worker` is its number among the workers of the host."""

    def __init__(self, instruments: Instruments, worker: str, clock: Callable[[], float] = monotonic) -> None:
        self._collector = ProcessCollector(registry=None)
        self._clock = clock
        self._sampled = -inf
        self._cpu_before = 0.0
        self._cpu = instruments.process_cpu.labels(worker)
        self._gauges = {
            "process_resident_memory_bytes": instruments.process_memory.labels(worker),
            "process_open_fds": instruments.process_files.labels(worker),
            "process_max_fds": instruments.process_files_limit.labels(worker),
            "process_start_time_seconds": instruments.process_start.labels(worker),
        }

    def sample(self) -> None:
        """Set the metrics, at most every 5 seconds."""
        now = self._clock()
        if now - self._sampled < _SECONDS:
            return
        self._sampled = now
        found = {metric.name: metric.samples[0].value for metric in self._collector.collect()}
        for name, gauge in self._gauges.items():
            if name in found:
                gauge.set(found[name])
        cpu = found.get("process_cpu_seconds", 0.0)
        self._cpu.inc(max(0.0, cpu - self._cpu_before))
        self._cpu_before = cpu
