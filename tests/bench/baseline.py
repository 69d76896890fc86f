"""The stored baseline: ratios of an earlier run, and the comparison that tolerates noise."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

import orjson

from tests.bench.figures import Figure

FILE = Path(__file__).with_name("baseline.json")
# Ratios by tools and mode ("C with nginx, quick"), row and figure.
Stored = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True, slots=True)
class Slower:
    """A row that is slower than the baseline allows. `most`: the allowed factor."""

    row: str
    name: str
    value: float
    stored: float
    most: float

    def __str__(self) -> str:
        return (
            f"{self.row}: {self.name} is {self.value:.3g}, {self.value / self.stored:.1f} times the baseline's "
            f"{self.stored:.3g}; up to {self.most:g} times may be noise."
        )


def load_ratios(path: Path = FILE) -> Stored:
    """Return the stored ratios, or an empty mapping if there is no file."""
    return orjson.loads(path.read_bytes()) if path.is_file() else {}


def store(figures: Iterable[Figure], tools: str, path: Path = FILE) -> None:
    """Store these figures; they replace those of the same rows and tools."""
    rows: dict[str, dict[str, float]] = {}
    for figure in figures:
        if figure.alike:
            # A doubling below 1 is noise. If it were stored, the next run would look slower.
            value = max(figure.value, 1.0) if figure.name.endswith("doubling") else figure.value
            rows.setdefault(figure.row, {})[figure.name] = float(f"{value:.4g}")
    stored = {**load_ratios(path)}
    stored[tools] = {**stored.get(tools, {}), **rows}
    path.write_bytes(orjson.dumps(stored, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")


def compare(figures: Iterable[Figure], stored: Mapping[str, Mapping[str, float]]) -> tuple[list[Slower], int]:
    """Return the rows that are slower than the baseline allows, and how many figures were compared.

    Figures of one group (`alike`) are compared by their geometric mean. Slow system calls change only the ratio to
    plain Python, and a slow Python changes only the ratio to nginx; a slower server changes both. The result names the
    figure that grew most.
    """
    groups: dict[tuple[str, str], list[Slower]] = {}
    for figure in figures:
        before = stored.get(figure.row, {}).get(figure.name)
        if before:
            slower = Slower(figure.row, figure.name, figure.value, before, figure.most)
            groups.setdefault((figure.row, figure.alike), []).append(slower)
    worse = [group for group in groups.values() if geometric_mean(map(_excess, group)) > 1]
    return [max(group, key=_excess) for group in worse], sum(map(len, groups.values()))


def _excess(one: Slower) -> float:
    return one.value / one.stored / one.most
