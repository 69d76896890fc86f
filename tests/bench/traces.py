"""The row `traces`: the CPU time of runs that are traced and exported, compared with that of runs that are not."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.bench.figures import Figure
from tests.bench.loads import CHAT, Load
from tests.bench.processes import Child
from tests.bench.rig import Rig
from tests.bench.rounds import print_status

ROW = "traces"
OFF, ADDED, RATIO = "CPU of a run without traces", "CPU of the traces of a run", "CPU with ÷ without traces"
# A run of two steps with two tool calls has five spans; the run of the load `short` has two.
_LOADS = (Load("traces-tools", "tools", 206, 200, 8), Load("traces-short", "fast-20", 20, 400, 8))
_EXPORT_MS = 1000
# Seconds after a load until the last spans are exported, so that the figures include this.
_SETTLE = 1.3


def traces_figures(rig: Rig, rounds: int, *, quick: bool) -> list[Figure]:
    """Return the figures of each round; the two servers take turns."""
    with _collector() as url:
        on = rig.server(
            f"{ROW}-on",
            OTEL_EXPORTER_OTLP_ENDPOINT=url,
            OTEL_BSP_SCHEDULE_DELAY=str(_EXPORT_MS),
            NO_PROXY="127.0.0.1",
        )
        servers = {"off": rig.server(f"{ROW}-off"), "on": on}
        try:
            return [one for load in _LOADS for one in _compared(rig, load, servers, rounds, 2 if quick else 1)]
        finally:
            for server in servers.values():
                rig.end(server)


def _compared(rig: Rig, load: Load, servers: dict[str, Child], rounds: int, share: int) -> list[Figure]:
    spent: dict[str, list[float]] = {name: [] for name in servers}
    streams = load.streams // share
    for server in servers.values():
        _cpu(rig, load, server, 20)
    for number in range(rounds):
        print_status(f"{load.row}: round {number + 1} of {rounds}")
        for name in [*servers][:: -1 if number % 2 else 1]:
            spent[name].append(_cpu(rig, load, servers[name], streams))
    pairs = [*zip(spent["on"], spent["off"], strict=True)]
    return [
        Figure(load.row, OFF, tuple(1000 * off / streams for _, off in pairs), "ms"),
        Figure(load.row, ADDED, tuple(1000 * (on - off) / streams for on, off in pairs), "ms"),
        Figure(load.row, RATIO, tuple(on / off for on, off in pairs), "×"),
    ]


def _cpu(rig: Rig, load: Load, server: Child, streams: int) -> float:
    """Return the CPU seconds of a load, up to the export of its last spans."""
    before = server.cpu()
    outcome = rig.run_client(server, load, load.question("server"), streams, CHAT)
    time.sleep(_SETTLE)
    if outcome.failed:
        raise RuntimeError(f"{load.row}: {outcome.failed} runs failed")
    return server.cpu() - before


@contextmanager
def _collector() -> Iterator[str]:
    """Accept traces and drop them; yield the URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
