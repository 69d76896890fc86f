"""How a bench process talks to the bench: CPU seconds on request, and an end when the bench is gone."""

import os
import signal
import sys
import threading
import time


def report_cpu_in_background() -> None:
    """Answer each line on standard input with the CPU seconds used so far; at its end, end this process.

    The process asks its own clock: that is exact to the microsecond and the same on every platform, where /proc may
    count in ticks of 10 ms. A bench that was killed closes the pipe, so nothing outlives it.
    """
    threading.Thread(target=_answer, name="bench control", daemon=True).start()


def _answer() -> None:
    for _ in sys.stdin:
        print(time.process_time(), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
