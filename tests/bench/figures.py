"""Figures from samples: one value per round, ratios within a round, and the median over the rounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.loads import PAGES, Load, TargetName
from tests.bench.outcome import Outcome

CPU, PER_WORK, ADDED_P50, ADDED_P99 = "CPU-s per 100k events", "CPU ÷ work", "added p50", "added p99"
FIRST, RUN = "first event over upstream's", "run over upstream's"
JOURNAL, BEFORE, PER_V1 = "CPU ÷ bare", "CPU ÷ before", "chat completions CPU ÷ v1.1"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a row, with its value in each round.

    `alike`: the group of figures that are compared with the baseline together; "" if it is not compared. `most`: the
    factor by which it may exceed the baseline.
    """

    row: str
    name: str
    values: tuple[float, ...]
    unit: str = ""
    alike: str = ""
    most: float = 1.6

    @property
    def value(self) -> float:
        """The median over the rounds."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Sample:
    """A load on a target in one round: CPU seconds, and those of the reference work just before."""

    load: Load
    target: TargetName
    round: int
    cpu: float
    work: float
    outcome: Outcome


def load_figures(samples: Sequence[Sample], relay_name: str) -> list[Figure]:
    """Return the figures of all rows."""
    rows = dict.fromkeys(sample.load.row for sample in samples)
    return [figure for row in rows for figure in _row_figures(row, samples, relay_name)]


def _row_figures(row: str, samples: Sequence[Sample], relay_name: str) -> list[Figure]:
    servers, directs, relays, bares, befores, completions = (
        [one for one in samples if (one.load.row, one.target) == (row, target)]
        for target in ("server", "direct", "relay", "bare", "before", "completions")
    )
    figures = [Figure(row, *measured) for measured in _main_figures(row, servers, directs)]
    for name, others in ((f"CPU ÷ {relay_name}", relays), (JOURNAL, bares), (BEFORE, befores)):
        if others:
            ratios = _per_round(servers, others, _cpu_ratio)
            figures.append(Figure(row, name, ratios, "×", alike="cpu" if others is relays else ""))
    if row in ("burst", "paced", "one", "tools", "args"):
        figures.append(
            Figure(row, PER_WORK, tuple(own.cpu / own.load.streams / own.work for own in servers), "×", "cpu")
        )
    if completions:
        figures.append(Figure(row, PER_V1, _per_round(completions, servers, _cpu_ratio), "×", "completions", 1.3))
    pages = {page: [one for one in samples if (one.load.row, one.target) == (row, page)] for page in PAGES}
    figures += [
        Figure(row, f"{page} CPU ÷ v1.1", _per_round(asked, servers, _cpu_ratio), "×")
        for page, asked in pages.items()
        if asked
    ]
    if row == "eager":
        whole = _per_round(servers, directs, lambda own, other: own.outcome.total.p50 / other.outcome.total.p50)
        figures.append(Figure(row, "whole run ÷ upstream's", whole, "×", "eager", 1.3))
    failed = tuple(float(own.outcome.failed) for own in servers)
    return [*figures, Figure(row, "failed", failed)] if any(failed) or row == "churn" else figures


def _cpu_ratio(one: Sample, other: Sample) -> float:
    return one.cpu / other.cpu


def _main_figures(
    row: str, servers: Sequence[Sample], directs: Sequence[Sample]
) -> list[tuple[str, tuple[float, ...], str]]:
    """Return the figures that are specific to a row: name, value per round and unit."""
    per_event = tuple(100_000 * own.cpu / own.load.streams / own.load.events for own in servers)

    def values(read: Callable[[Outcome], float], scale: float = 1.0) -> tuple[float, ...]:
        return tuple(read(own.outcome) / scale for own in servers)

    def minus_direct(read: Callable[[Outcome], float]) -> tuple[float, ...]:
        return _per_round(servers, directs, lambda own, other: read(own.outcome) - read(other.outcome))

    match row:
        case "burst" | "pages":
            return [(CPU, per_event, "s")]
        case "paced":
            p50, p99 = values(lambda it: it.added.p50), values(lambda it: it.added.p99)
            return [(CPU, per_event, "s"), (ADDED_P50, p50, "ms"), (ADDED_P99, p99, "ms")]
        case "one":
            return [(FIRST, minus_direct(lambda it: it.first.p50), "ms")]
        case "tools":
            return [(RUN, minus_direct(lambda it: it.total.p50), "ms")]
        case "args":
            return [("whole run", values(lambda it: it.total.p50, 1000), "s")]
        case "eager":
            return [("whole run", values(lambda it: it.total.p50), "ms")]
        case _:
            return [("first event p99", values(lambda it: it.first.p99), "ms")]


def _per_round(
    owns: Sequence[Sample], others: Sequence[Sample], compare: Callable[[Sample, Sample], float]
) -> tuple[float, ...]:
    """Return the comparison of the two samples of each round."""
    by_round = {other.round: other for other in others}
    return tuple(compare(own, by_round[own.round]) for own in owns if own.round in by_round)
