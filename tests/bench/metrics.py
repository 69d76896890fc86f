"""The row `metrics`: CPU time of a server that counts for Prometheus, compared with one that does not."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from tests.bench.figures import Figure
from tests.bench.loads import CHAT, Load
from tests.bench.processes import Child
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE, print_status

ROW = "metrics"
TOKEN = "the-token-of-the-benchmark"
# How the values are stored: in memory, or in files as several workers do.
STORED = ("memory", "files")
LOADS = ("burst", "paced", "tools")
_SCRAPES = 40


def figure_name(stored: str, load: str) -> str:
    """Return the name of a ratio."""
    return f"values in {stored} ÷ without, {load}"


def metrics_figures(rig: Rig, rounds: int, *, quick: bool) -> list[Figure]:
    """Return the ratios of each load in each round, and the CPU time of a scrape."""
    plain = rig.server(f"{ROW}-off")
    measured = {stored: _server(rig, stored) for stored in STORED}
    ratios: dict[str, list[float]] = {}
    try:
        for number in range(-1, rounds):
            print_status(f"{ROW}: {'warm-up' if number < 0 else f'round {number + 1} of {rounds}'}")
            for load in _loads(quick=quick):
                found = _ratios(rig, plain, measured, load, STORED[:: -1 if number % 2 else 1])
                for stored, ratio in found.items() if number >= 0 else ():
                    ratios.setdefault(figure_name(stored, load.row), []).append(ratio)
        scrapes = [Figure(ROW, f"a scrape, values in {name}", (_scrape(one),), "ms") for name, one in measured.items()]
    finally:
        for child in (plain, *measured.values()):
            rig.end(child)
    return [*(Figure(ROW, name, tuple(values), "×") for name, values in ratios.items()), *scrapes]


def _server(rig: Rig, stored: str) -> Child:
    settings: dict[str, Any] = {"SIGNALBOX_METRICS_TOKEN": TOKEN}
    if stored == "files":
        folder = rig.folder / "metrics"
        folder.mkdir()
        settings["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    return rig.server(f"{ROW}-{stored}", **settings)


def _ratios(
    rig: Rig, plain: Child, measured: Mapping[str, Child], load: Load, order: Sequence[str]
) -> dict[str, float]:
    """Return the CPU time with metrics, divided by the mean of that without, directly before and after."""
    before = _cpu(rig, plain, load)
    ratios: dict[str, float] = {}
    for stored in order:
        cpu = _cpu(rig, measured[stored], load)
        after = _cpu(rig, plain, load)
        ratios[stored] = 2 * cpu / (before + after)
        before = after
    return ratios


def _loads(*, quick: bool) -> list[Load]:
    paced = 75 if quick else 150
    return [
        Load("burst", "fast-200", 200, 100 if quick else 200, 16),
        Load("paced", f"paced-50-{paced}", paced, 100, 100, ramp_ms=1000),
        Load("tools", "tools", 206, 40 if quick else 60),
    ]


def _cpu(rig: Rig, server: Child, load: Load) -> float:
    before = server.cpu()
    outcome = rig.run_client(server, load, load.question("server"), load.streams, CHAT)
    if outcome.failed:
        raise RuntimeError(f"{server.name}: {outcome.failed} streams failed")
    time.sleep(SETTLE)
    return server.cpu() - before


def _scrape(server: Child) -> float:
    """Return the CPU time of a scrape in milliseconds."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, trust_env=False) as client:
        client.get("/metrics").raise_for_status()
        before = server.cpu()
        for _ in range(_SCRAPES):
            client.get("/metrics").raise_for_status()
        return (server.cpu() - before) / _SCRAPES * 1000
