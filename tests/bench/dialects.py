"""The row `dialects`: the server's CPU time with each native API of an upstream, compared with OpenRouter's."""

import time
from collections.abc import Sequence

from tests.bench.dialect_frames import PATHS
from tests.bench.figures import Figure
from tests.bench.loads import CHAT, Load
from tests.bench.processes import Child
from tests.bench.rig import Rig
from tests.bench.rounds import SETTLE, print_status

ROW, REFERENCE = "dialects", "openrouter-chat"
NATIVE = tuple(name for name in PATHS if name != REFERENCE)


def dialect_figures(rig: Rig, rounds: int, *, quick: bool) -> list[Figure]:
    """Return the ratio of each dialect and load in each round; one server calls all dialects at one upstream."""
    upstream = rig.python_upstream()
    file = rig.folder / "upstreams.toml"
    file.write_text("\n".join(_entry(name, upstream.port) for name in PATHS))
    server = rig.server(ROW, upstream=upstream, SIGNALBOX_UPSTREAMS=str(file))
    spent: dict[tuple[str, str], list[float]] = {}
    try:
        for number in range(-1, rounds):
            print_status(f"{ROW}: {'warm-up' if number < 0 else f'round {number + 1} of {rounds}'}")
            for load in _loads(quick=quick):
                ratios = _ratios(rig, server, load, NATIVE[:: -1 if number % 2 else 1])
                for name, ratio in ratios.items() if number >= 0 else ():
                    spent.setdefault((name, load.row), []).append(ratio)
    finally:
        rig.end(server)
    return [Figure(ROW, figure_name(*key), tuple(ratios), "×") for key, ratios in spent.items()]


def _ratios(rig: Rig, server: Child, load: Load, names: Sequence[str]) -> dict[str, float]:
    """Return the CPU time of each dialect, divided by the mean of OpenRouter's directly before and after it."""
    before = _cpu(rig, server, load, REFERENCE)
    ratios: dict[str, float] = {}
    for name in names:
        cpu = _cpu(rig, server, load, name)
        after = _cpu(rig, server, load, REFERENCE)
        ratios[name] = 2 * cpu / (before + after)
        before = after
    return ratios


def figure_name(dialect: str, load: str) -> str:
    """Return the name of a figure."""
    return f"{dialect} ÷ {REFERENCE}, {load}"


def _loads(*, quick: bool) -> list[Load]:
    paced = 75 if quick else 150
    return [
        Load("burst", "fast-200", 200, 100 if quick else 200, 16),
        Load("paced", f"paced-50-{paced}", paced, 100, 100, ramp_ms=1000),
    ]


def _entry(dialect: str, port: int) -> str:
    rows = (
        "[[upstream]]",
        f'name = "{dialect}"',
        f'dialect = "{dialect}"',
        f'base_url = "http://127.0.0.1:{port}{PATHS[dialect][0]}"',
        'rename = { "bench/*" = "*" }',
    )
    return "\n".join([*rows, ""])


def _cpu(rig: Rig, server: Child, load: Load, dialect: str) -> float:
    question = load.question("server")
    question["model"] = f"{dialect}@{question['model']}"
    before = server.cpu()
    outcome = rig.run_client(server, load, question, load.streams, CHAT)
    if outcome.failed or outcome.events != load.events * load.streams:
        raise RuntimeError(f"{dialect}: {outcome.failed} streams failed, {outcome.events} events arrived")
    time.sleep(SETTLE)
    return server.cpu() - before
