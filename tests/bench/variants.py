"""The row `variants`: four models write a file of 60 kB at the same time, compared with the same bytes as text."""

import http.client
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from tests.bench.figures import Figure
from tests.bench.frames import deltas_of_file
from tests.bench.processes import Child
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE, print_status

ROW = "variants"
WIRE, PER_TEXT, PER_PLAIN = "bytes ÷ file", "CPU ÷ text", "CPU ÷ without previews"
_VARIANTS, _SIZE = 4, 60_000
# Deltas per second of each variant: a fast model.
_RATE = 2_000
_TIMEOUT = 120


def variants_figures(rig: Rig, rounds: int) -> list[Figure]:
    """Return the figures of each round; one server runs all loads."""
    server = rig.server(ROW, upstream=rig.python_upstream())
    text = {"model": f"bench/paced-{_RATE}-{deltas_of_file(_SIZE)}", "tools": []}
    plain = {"model": f"bench/file-{_RATE}-{_SIZE}", "tools": ["create_file"]}
    questions = {"text": text, "plain": plain, "files": {**plain, "previews": True}}
    spent: dict[str, list[float]] = {name: [] for name in questions}
    sizes: list[float] = []
    try:
        _run(server, f"{ROW}-warm-up", {**questions["files"], "model": f"bench/file-{_RATE}-1000"})
        for number in range(rounds):
            print_status(f"{ROW}: round {number + 1} of {rounds}")
            for name in [*questions][:: -1 if number % 2 else 1]:
                cpu, sent = _run(server, f"{ROW}-{name}-{number}", questions[name])
                spent[name].append(cpu)
                sizes += [sent / _VARIANTS / _SIZE] if name == "files" else []
    finally:
        rig.end(server)
    files = spent["files"]
    return [
        Figure(ROW, "CPU of a file", tuple(1000 * cpu / _VARIANTS for cpu in files), "ms"),
        Figure(ROW, PER_TEXT, tuple(cpu / other for cpu, other in zip(files, spent["text"], strict=True)), "×"),
        Figure(ROW, PER_PLAIN, tuple(cpu / other for cpu, other in zip(files, spent["plain"], strict=True)), "×"),
        Figure(ROW, WIRE, tuple(sizes), "×"),
    ]


def _run(server: Child, conversation: str, question: dict[str, Any]) -> tuple[float, int]:
    """Ask for four variants and read them at the same time; return the CPU seconds and the bytes of all streams."""
    asked = {"prompt": "Go on.", "conversation_id": conversation, "variants": [{}] * _VARIANTS, **question}
    before = server.cpu()
    started = orjson.loads(_request(server, "POST", "/api/chat/variants", orjson.dumps(asked)))
    with ThreadPoolExecutor(_VARIANTS) as pool:
        streams = [*pool.map(lambda one: _events(server, one["run_id"]), started["variants"])]
    time.sleep(SETTLE)
    cpu = server.cpu() - before
    for stream in streams:
        if b'"status":"complete"' not in stream or question.get("previews", False) != (b'"type":"preview"' in stream):
            raise RuntimeError(f"{conversation}: a variant did not end well: {stream[-500:]!r}")
    return cpu, sum(map(len, streams))


def _events(server: Child, run_id: str) -> bytes:
    return _request(server, "GET", f"/api/runs/{run_id}/events")


def _request(server: Child, method: str, path: str, body: bytes | None = None) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_TIMEOUT)
    try:
        connection.request(method, path, body)
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError(f"{method} {path} was not answered: {response.status} {text[-500:]!r}")
        return text
    finally:
        connection.close()
