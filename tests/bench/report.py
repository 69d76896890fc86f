"""The tables that are printed, and the JSON file."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from tests.bench.figures import Figure, Sample
from tests.bench.goals import goal_of, rating_of

_FIGURES = ("row", "figure", "median", "from – to", "reach", "aim", "")
_LOADS = ("row", "target", "CPU-s/100k", "CPU/stream", "events/s", "added p50", "p99", "first p50", "p99", "run p50")


def figures_table(figures: Iterable[Figure]) -> str:
    """Return a table with one line per figure and its goal."""
    return _align([_FIGURES, *map(_figure_cells, figures)])


def loads_table(samples: Sequence[Sample]) -> str:
    """Return a table with one line per load and target."""
    groups: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.load.row, sample.target), []).append(sample)
    return _align([_LOADS, *(_load_cells(group) for group in groups.values())])


def as_json(figures: Iterable[Figure], samples: Iterable[Sample], about: dict[str, Any]) -> dict[str, Any]:
    """Return figures with their goals, and all samples."""
    return {
        **about,
        "figures": [
            {
                **asdict(figure),
                "value": figure.value,
                "goal": None if (goal := goal_of(figure)) is None else asdict(goal),
                "verdict": rating_of(figure),
            }
            for figure in figures
        ],
        "samples": [{**asdict(sample), "load": sample.load.row} for sample in samples],
    }


def _figure_cells(figure: Figure) -> tuple[str, ...]:
    goal = goal_of(figure)
    return (
        figure.row,
        figure.name,
        f"{_number(figure.value)} {figure.unit}".strip(),
        f"{_number(min(figure.values))} – {_number(max(figure.values))}" if len(figure.values) > 1 else "",
        "" if goal is None else _number(goal.reach),
        "" if goal is None or goal.aim is None else _number(goal.aim),
        rating_of(figure),
    )


def _load_cells(group: Sequence[Sample]) -> tuple[str, ...]:
    load, outcomes = group[0].load, [sample.outcome for sample in group]
    has_cpu = group[0].target != "direct"
    per_stream = median(sample.cpu for sample in group) / load.streams
    times = (
        median(outcome.added.p50 for outcome in outcomes),
        median(outcome.added.p99 for outcome in outcomes),
        median(outcome.first.p50 for outcome in outcomes),
        median(outcome.first.p99 for outcome in outcomes),
        median(outcome.total.p50 for outcome in outcomes),
    )
    return (
        load.row,
        group[0].target,
        f"{per_stream / load.events * 100_000:.3f}" if has_cpu else "",
        f"{per_stream * 1000:.2f} ms" if has_cpu else "",
        f"{median(load.streams * load.events / outcome.wall for outcome in outcomes):,.0f}",
        *(f"{time:,.2f} ms" for time in times),
    )


def _number(value: float) -> str:
    """Format with three significant digits, or as an integer."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _align(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(widths[at]) if at < 2 else cell.rjust(widths[at]) for at, cell in enumerate(line)).rstrip()
        for line in lines
    )
