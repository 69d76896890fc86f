"""Supervises several workers on one listening socket: starts them, restarts them after a crash, stops them."""

import gc
import os
import select
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import FrameType
from typing import NoReturn

import structlog

from signalbox.server.worker_pipe import DRAIN, HURRY, RELOAD, Link, Worker

# A worker that dies after this time is restarted at once; one that dies sooner, with increasing backoff.
_STEADY_SECONDS = 10.0
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
# If every worker dies this often in a row, the supervisor gives up.
_MOST_DEATHS = 5
# Added to the drain before a worker is killed: for slow clients, tools that stop slowly, and the disk.
_PATIENCE_SECONDS = 15.0

_log = structlog.get_logger()


@dataclass(slots=True)
class _Place:
    """A slot for one worker, with the number of deaths in a row and the earliest time of the next start."""

    worker: Worker | None = None
    deaths: int = 0
    due: float = 0.0


class Supervisor:
    """The parent process of `count` workers; each runs `work`, which returns its exit status.

    It forks, so no thread or event loop may be running. `on_ready` is called once, when all workers are ready, with
    the lines of the first one. `on_stop` is called once, when a stop is requested, `on_death` with the pid of each
    worker that has ended. If it `reloads`, SIGHUP makes the
    workers read upstreams.toml again; otherwise it stops them.
    """

    def __init__(
        self,
        count: int,
        work: Callable[[Link], int],
        *,
        on_ready: Callable[[Sequence[str]], None],
        on_stop: Callable[[], None],
        drain_seconds: float,
        on_death: Callable[[int], None] = lambda _: None,
        reloads: bool = False,
    ) -> None:
        self._places = [_Place() for _ in range(count)]
        self._work = work
        self._on_ready = on_ready
        self._on_stop = on_stop
        self._on_death = on_death
        self._drain_seconds = drain_seconds
        self._reloads = reloads
        self._greeting: Sequence[str] | None = None  # lines of the first worker that was ready
        self._were_all_ready = False
        self._signals: list[int] = []
        self._wake = (-1, -1)
        self._kill_at: float | None = None  # set when a stop is requested
        self._status = 0

    def run(self) -> int:
        """Keep the workers running until stopped; return 0, 130 after Ctrl-C, or 2 if no worker can start."""
        gc.collect()
        gc.freeze()  # keeps memory from before the fork shared
        with self._listening():
            while True:
                self._reap()
                self._obey()
                if self._kill_at is not None and not self._workers:
                    return self._status
                if self._is_hopeless():
                    return 2
                self._start_due()
                self._wait()

    @property
    def _workers(self) -> list[Worker]:
        return [place.worker for place in self._places if place.worker is not None]

    # --- starting ---

    def _start_due(self) -> None:
        """Start missing workers; only one at first, so that an error of the start is printed once."""
        if self._kill_at is None:
            for place in self._places if self._greeting is not None else self._places[:1]:
                if place.worker is None and place.due <= monotonic():
                    place.worker = self._fork()

    def _fork(self) -> Worker:
        orders, order = os.pipe()
        news, tell = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._be_worker(Link(orders, tell), (order, news))
        os.close(orders)
        os.close(tell)
        return Worker(pid, order, news, monotonic())

    def _be_worker(self, link: Link, parents: Sequence[int]) -> NoReturn:
        """Run `work` in the child process, then exit it."""
        status = 1
        try:
            self._leave(parents)
            status = self._work(link)
        except BaseException as error:  # noqa: BLE001 - must not unwind into the supervisor's frames
            sys.excepthook(type(error), error, error.__traceback__)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _leave(self, parents: Sequence[int]) -> None:
        """Reset inherited signals and close inherited pipes, so that siblings notice the supervisor's death."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        for number in (
            signal.SIGINT,
            signal.SIGHUP,
        ):  # a terminal sends them to all processes; the supervisor forwards them
            signal.signal(number, signal.SIG_IGN)
        for worker in self._workers:
            worker.close()
        for fd in (*self._wake, *parents):
            os.close(fd)

    # --- events ---

    def _wait(self) -> None:
        """Sleep until a signal, a report of a worker, or the next deadline."""
        times = [place.due for place in self._places if place.worker is None and self._greeting is not None]
        if self._kill_at is not None:
            times = [self._kill_at]
        until = max(0.0, min(times) - monotonic()) if times else None
        starting = {worker.news: worker for worker in self._workers if worker.is_starting}
        found, _, _ = select.select([self._wake[0], *starting], [], [], until)
        for fd in found:
            if fd in starting:
                self._read_report(starting[fd])
            else:
                os.read(fd, 4096)

    def _read_report(self, worker: Worker) -> None:
        worker.read_report()
        if worker.lines is None:
            return
        if self._greeting is None:
            self._greeting = worker.lines
        if not self._were_all_ready and all(one.worker and one.worker.lines is not None for one in self._places):
            self._were_all_ready = True
            self._on_ready(self._greeting)

    def _reap(self) -> None:
        """Collect the exit status of ended workers."""
        for place in self._places:
            if place.worker is not None:
                pid, status = os.waitpid(place.worker.pid, os.WNOHANG)
                if pid:
                    self._bury(place, place.worker, os.waitstatus_to_exitcode(status))

    def _bury(self, place: _Place, worker: Worker, status: int) -> None:
        """Free the slot of a dead worker and schedule its successor."""
        while worker.is_starting:  # it may have been ready just before
            self._read_report(worker)
        worker.close()
        self._on_death(worker.pid)
        was_steady = worker.lines is not None and monotonic() - worker.born >= _STEADY_SECONDS
        place.worker = None
        place.deaths = 1 if was_steady else place.deaths + 1
        wait = 0.0 if place.deaths == 1 else min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (place.deaths - 2))
        place.due = monotonic() + wait
        if self._kill_at is None and self._greeting is not None:  # the first worker has printed its error itself
            _log.error("worker.died", worker=worker.pid, status=status, restart_in=wait)

    def _is_hopeless(self) -> bool:
        """Return whether no worker runs and none will be started."""
        if self._workers or self._kill_at is not None:
            return False
        if self._greeting is None:
            return self._places[0].deaths > 0
        if min(place.deaths for place in self._places) < _MOST_DEATHS:
            return False
        sys.stderr.write("signalbox: all workers keep dying, so the server stops; the log lines above say why.\n")
        return True

    # --- stopping ---

    def _obey(self) -> None:
        """Forward signals as orders, and kill workers that miss the deadline."""
        while self._signals:
            number = self._signals.pop(0)
            if number == signal.SIGHUP and self._reloads:
                for worker in self._workers:
                    worker.order(RELOAD)
                continue
            is_last = number == signal.SIGINT or self._kill_at is not None
            self._status = 130 if number == signal.SIGINT else self._status
            self._stop(HURRY if is_last else DRAIN, 0.0 if is_last else self._drain_seconds)
        if self._kill_at is not None and self._kill_at <= monotonic():
            self._kill_at = monotonic() + _PATIENCE_SECONDS
            for worker in self._workers:
                _log.error("worker.killed", worker=worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

    def _stop(self, order: bytes, seconds: float) -> None:
        if self._kill_at is None:
            self._on_stop()
        self._kill_at = monotonic() + seconds + _PATIENCE_SECONDS
        for worker in self._workers:
            worker.order(order)

    def _record_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)

    @contextmanager
    def _listening(self) -> Generator[None]:
        """Record signals, and wake `select` for each."""
        self._wake = os.pipe()
        os.set_blocking(self._wake[1], False)
        woken = signal.set_wakeup_fd(self._wake[1], warn_on_full_buffer=False)
        before = {
            signal.SIGTERM: signal.signal(signal.SIGTERM, self._record_signal),
            signal.SIGINT: signal.signal(signal.SIGINT, self._record_signal),
            signal.SIGCHLD: signal.signal(signal.SIGCHLD, _ignore),
        }
        if self._reloads or signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._record_signal)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(woken)
            for fd in self._wake:
                os.close(fd)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore a signal whose only purpose is to wake `select`."""
