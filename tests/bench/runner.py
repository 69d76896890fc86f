"""The row `runner`: the CPU time of a run of a program, compared with that of the server's loop."""

from tests.bench.figures import Figure
from tests.comparison.costs import SERVER_LOOP, cpu_per_run
from tests.comparison.libraries import SIGNALBOX

ROW, NAME = "runner", "library CPU ÷ server loop"
_RUNS = 200


def runner_figures(rounds: int, runs: int = _RUNS) -> list[Figure]:
    """Return the ratio of each round."""
    spent = cpu_per_run((SERVER_LOOP, SIGNALBOX), rounds, runs)
    pairs = zip(spent[SIGNALBOX.name], spent[SERVER_LOOP.name], strict=True)
    return [Figure(ROW, NAME, tuple(own / other for own, other in pairs), "×", "runner", 1.3)]
