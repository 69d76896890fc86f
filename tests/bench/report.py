"""From samples to figures: medians over rounds, ratios inside a round, a table for people."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from tests.bench.scenarios import SHORT, Scenario

# By kind of load: the shortest stream, the longest, and how many times as long that is.
_GROWING = {
    "arguments": ("args 200 KB", "args 1 MB", 5),
    "a run": (f"long {SHORT:,}", f"long {4 * SHORT:,}", 4),
    "a replay": (f"replay {SHORT:,}", f"replay {4 * SHORT:,}", 4),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One target under one load once; times in seconds."""

    scenario: str
    target: str
    events: int
    streams: int
    failed: int
    cpu: float
    wall: float
    first: tuple[float, ...]
    total: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The medians over all rounds; `ratio` and `journal` are the medians of each round's own ratios.

    `ratio` is to the relay, `journal` to the server that keeps no run.
    """

    scenario: str
    target: str
    failed: int
    cpu_per_100k_events: float
    events_per_second: float
    first_ms_p50: float
    first_ms_p99: float
    total_ms_p50: float
    cpu_ms_per_stream: float
    ratio: float | None
    journal: float | None = None


def rows(plan: Iterable[Scenario], samples: list[Sample]) -> list[Row]:
    """Return one row for each load and target that has samples."""
    out: list[Row] = []
    for scenario in plan:
        relay, bare = (_of(samples, scenario.name, target) for target in ("relay", "bare"))
        each = (_of(samples, scenario.name, target) for target in ("relay", "bare", "server"))
        out += [_row(taken, relay, bare) for taken in each if taken]
    return out


def linearity(table: list[Row]) -> dict[str, float]:
    """Say by kind of load how many times the CPU of the shortest stream the longest costs."""
    cost = {row.scenario: row.cpu_ms_per_stream for row in table if row.target == "server"}
    return {
        kind: cost[long] / cost[short] for kind, (short, long, _) in _GROWING.items() if short in cost and long in cost
    }


def told(table: list[Row]) -> list[str]:
    """Put the ratios into sentences."""
    bare = {row.scenario: row for row in table if row.target == "bare"}
    grown: list[str] = []
    for kind, ratio in linearity(table).items():
        short, long, times = _GROWING[kind]
        grown.append(f"{kind}: {long} costs {ratio:.1f} times what {short} costs ({times} is linear).")
    return [*grown, *(_difference(row, bare[row.scenario]) for row in table if row.journal is not None)]


def text(table: list[Row]) -> str:
    """Draw the table."""
    head = (
        "load",
        "target",
        "CPU-s/100k",
        "÷ relay",
        "÷ bare",
        "events/s",
        "first p50",
        "p99",
        "stream p50",
        "CPU/stream",
        "failed",
    )
    lines = [head, *(_cells(row) for row in table)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    drawn = ["  ".join(_aligned(cell, widths[i], left=i < 2) for i, cell in enumerate(line)) for line in lines]
    return "\n".join([*drawn, *told(table)])


def as_json(table: list[Row], samples: list[Sample], about: dict[str, Any]) -> dict[str, Any]:
    """Return figures and samples for a file; the single times of each stream are left out."""
    kept = [{k: v for k, v in asdict(s).items() if k not in ("first", "total")} for s in samples]
    return {**about, "linearity": linearity(table), "rows": [asdict(row) for row in table], "samples": kept}


def _difference(row: Row, bare: Row) -> str:
    """Say what a row costs beyond that of the server without a journal."""
    return (
        f"{row.scenario}: the journal costs {(row.journal or 1) - 1:+.0%} CPU "
        f"({row.cpu_ms_per_stream - bare.cpu_ms_per_stream:+.2f} ms per stream), "
        f"{row.first_ms_p50 - bare.first_ms_p50:+.1f} ms until the first frame, "
        f"{row.total_ms_p50 - bare.total_ms_p50:+.1f} ms until the last."
    )


def _of(samples: list[Sample], scenario: str, target: str) -> list[Sample]:
    return [sample for sample in samples if (sample.scenario, sample.target) == (scenario, target)]


def _row(taken: list[Sample], relay: list[Sample], bare: list[Sample]) -> Row:
    first = sorted(seconds for sample in taken for seconds in sample.first)
    total = sorted(seconds for sample in taken for seconds in sample.total)
    return Row(
        scenario=taken[0].scenario,
        target=taken[0].target,
        failed=sum(sample.failed for sample in taken),
        cpu_per_100k_events=median(map(_cost, taken)),
        events_per_second=median(sample.events / sample.wall for sample in taken),
        first_ms_p50=_percentile(first, 0.5) * 1000,
        first_ms_p99=_percentile(first, 0.99) * 1000,
        total_ms_p50=_percentile(total, 0.5) * 1000,
        cpu_ms_per_stream=median(sample.cpu / sample.streams for sample in taken) * 1000,
        ratio=_ratio(taken, relay) if taken[0].target != "relay" else None,
        journal=_ratio(taken, bare) if taken[0].target == "server" else None,
    )


def _ratio(taken: list[Sample], floor: list[Sample]) -> float | None:
    ratios = [_cost(own) / _cost(base) for own, base in zip(taken, floor, strict=False)]
    return median(ratios) if ratios else None


def _cost(sample: Sample) -> float:
    return sample.cpu / sample.events * 100_000


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[int((len(ordered) - 1) * share)] if ordered else 0.0


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.scenario,
        row.target,
        f"{row.cpu_per_100k_events:.3f}",
        "" if row.ratio is None else f"{row.ratio:.1f}",
        "" if row.journal is None else f"{row.journal:.2f}",
        f"{row.events_per_second:,.0f}",
        f"{row.first_ms_p50:.2f} ms",
        f"{row.first_ms_p99:.2f} ms",
        f"{row.total_ms_p50:,.1f} ms",
        f"{row.cpu_ms_per_stream:.2f} ms",
        str(row.failed),
    )


def _aligned(cell: str, width: int, *, left: bool) -> str:
    return cell.ljust(width) if left else cell.rjust(width)
