"""The table: medians over the rounds, ratios to Signalbox within a round, and the goals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from tests.bench.peers.loads import Sample, limit
from tests.bench.peers.targets import OURS

# Goals for a burst, reach and aim: a peer's CPU time divided by Signalbox's.
GOALS = {"LiteLLM": (60, 80), "Vercel AI SDK": (7, 9)}
_HEAD = (
    *("target", "burst CPU-s/100k", "÷ ours", "paced CPU-s/100k", "÷ ours", "added p50", "p99", "first event"),
    *("idle", "per stream", "tool run", "1 MB of args", "eager"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """The medians of a target; None: not measured, not possible, or a stream failed."""

    target: str
    version: str
    burst: float | None
    burst_to_ours: float | None
    paced: float | None
    paced_to_ours: float | None
    added_ms_p50: float | None
    added_ms_p99: float | None
    first_ms: float | None
    idle_mib: float | None
    kib_per_stream: float | None
    tool_run_ms: float | None
    args_s: float | None
    eager_ms: float | None
    failed: dict[str, int]


def rows(samples: list[Sample], versions: dict[str, str]) -> list[Row]:
    """Return one row per target, in the order of the samples."""
    return [_row(name, samples, versions.get(name, "")) for name in dict.fromkeys(one.target for one in samples)]


def text(table: list[Row]) -> str:
    """Return the table, the failures and the goals as text."""
    lines = [_HEAD, *(_cells(row) for row in table)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(_HEAD))]
    drawn = [
        "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    ]
    return "\n".join([*drawn, *_failures(table), *goals(table)])


def goals(table: list[Row]) -> list[str]:
    """Return a sentence per goal with the measured ratio."""
    return [
        f"burst: {row.burst_to_ours:.1f} times less CPU than {row.target} (reach {reach}, aim {aim})"
        for row in table
        if row.burst_to_ours is not None and (goal := GOALS.get(row.target))
        for reach, aim in [goal]
    ]


def _row(name: str, samples: list[Sample], version: str) -> Row:
    own = [one for one in samples if one.target == name]
    failed = {one.load: one.outcome.failed for one in own if one.outcome.failed}
    return Row(
        target=name,
        version=version,
        burst=_middle(own, "burst", lambda one: one.per_100k),
        burst_to_ours=_ratio(own, samples, "burst"),
        paced=_middle(own, "paced", lambda one: one.per_100k),
        paced_to_ours=_ratio(own, samples, "paced"),
        added_ms_p50=_middle(own, "paced", lambda one: one.outcome.added.p50),
        added_ms_p99=_middle(own, "paced", lambda one: one.outcome.added.p99),
        first_ms=_middle(own, "one", lambda one: one.outcome.first.p50),
        idle_mib=own[0].idle,
        kib_per_stream=_median(one.kib for one in own),  # also if streams failed: all were open
        tool_run_ms=_middle(own, "tools", lambda one: one.outcome.total.p50),
        args_s=_middle(own, "args", lambda one: one.outcome.total.p50 / 1000),
        eager_ms=_middle(own, "eager", lambda one: one.outcome.total.p50),
        failed=failed,
    )


def _middle(own: list[Sample], load: str, value: Callable[[Sample], float | None]) -> float | None:
    """Return the median over the rounds in which nothing failed."""
    return _median(value(one) for one in own if one.load == load and not one.outcome.failed)


def _ratio(own: list[Sample], samples: list[Sample], load: str) -> float | None:
    """Return the median of the ratios of the rounds."""
    mine = {one.round: one.per_100k for one in samples if (one.target, one.load) == (OURS, load)}
    taken = [one for one in own if one.load == load and not one.outcome.failed]
    return _median(one.per_100k / mine[one.round] for one in taken if mine.get(one.round))


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row.target} {row.version}".strip(),
        _formatted(row.burst, "{:.2f}"),
        _formatted(row.burst_to_ours, "{:.1f}"),
        _formatted(row.paced, "{:.1f}"),
        _formatted(row.paced_to_ours, "{:.1f}"),
        _formatted(row.added_ms_p50, "{:,.2f} ms"),
        _formatted(row.added_ms_p99, "{:,.1f} ms"),
        _formatted(row.first_ms, "{:.1f} ms"),
        _formatted(row.idle_mib, "{:.0f} MiB"),
        _formatted(row.kib_per_stream, "{:.0f} KiB"),
        _formatted(row.tool_run_ms, "{:.1f} ms"),
        _formatted(row.args_s, "{:.2f} s"),
        _formatted(row.eager_ms, "{:.0f} ms"),
    )


def _formatted(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def _failures(table: list[Row]) -> list[str]:
    return [
        f"{row.target}, {load}: {count:,} streams failed or were not done after {limit(load)} s"
        for row in table
        for load, count in row.failed.items()
    ]
