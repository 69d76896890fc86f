"""Requests `/health/live` every 10 ms (`python -m tests.bench.stalls.probe PORT`); prints the longest wait."""

import http.client
import sys
import threading
import time

PAUSE = 0.01
_TIMEOUT = 300


class Probe:
    """Measures the longest wait since the last call; a wait that is not over counts with its time so far."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._worst = 0.0
        self._since = 0.0

    def run(self) -> None:
        """Request `/health/live` forever."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT)
        while True:
            with self._lock:
                self._since = time.monotonic()
            try:
                connection.request("GET", "/health/live")
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
            with self._lock:
                self._worst, self._since = max(self._worst, time.monotonic() - self._since), 0.0
            time.sleep(PAUSE)

    def take_longest_wait(self) -> float:
        """Return the longest wait in seconds, and reset it."""
        with self._lock:
            now = time.monotonic()
            worst, self._worst = max(self._worst, now - self._since if self._since else 0.0), 0.0
            return worst


def main() -> None:
    """Answer lines until end of file."""
    probe = Probe(int(sys.argv[1]))
    threading.Thread(target=probe.run, daemon=True).start()
    for _ in sys.stdin:
        print(probe.take_longest_wait(), flush=True)


if __name__ == "__main__":
    main()
