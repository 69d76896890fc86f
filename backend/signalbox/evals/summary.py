"""Counts the results of a set by case, model and loop."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from signalbox.evals.results import Result

Column = tuple[str, str]


@dataclass(slots=True)
class Cell:
    """The results of a case with one model and loop."""

    results: list[Result] = field(default_factory=list[Result])
    missing: int = 0

    @property
    def passed(self) -> int:
        """How many passed."""
        return sum(result.outcome == "pass" for result in self.results)

    @property
    def total(self) -> int:
        """How many there are, with those that have no result."""
        return len(self.results) + self.missing

    @property
    def rate(self) -> float:
        """The part that passed."""
        return self.passed / self.total if self.total else 0.0

    @property
    def cost(self) -> float:
        """The mean cost of a result."""
        return sum(result.cost or 0.0 for result in self.results) / max(1, len(self.results))

    @property
    def seconds(self) -> float:
        """The mean time of a result."""
        return sum(result.duration_ms or 0 for result in self.results) / 1000 / max(1, len(self.results))


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a whole set."""

    passed: int
    failed: int
    errors: int
    missing: int
    cost: float

    @property
    def all_passed(self) -> bool:
        """Whether nothing failed and nothing is missing."""
        return not (self.failed or self.errors or self.missing)

    def __str__(self) -> str:
        parts = [f"{self.passed} passed", f"{self.failed} failed"]
        parts += [f"{self.errors} error{'' if self.errors == 1 else 's'}"] if self.errors else []
        parts += [f"{self.missing} not executed"] if self.missing else []
        return f"{', '.join(parts)}, ${self.cost:.4f}"


def totals_of(results: Sequence[Result], total: int, attempts: Iterable[Result]) -> Totals:
    """Count the latest results of the trials of a set; the cost is that of all attempts."""
    counts = {name: sum(result.outcome == name for result in results) for name in ("pass", "fail", "error")}
    cost = sum(result.cost or 0.0 for result in attempts)
    return Totals(counts["pass"], counts["fail"], counts["error"], total - len(results), cost)


def cells_of(results: Iterable[Result]) -> dict[tuple[str, str, str], Cell]:
    """Group results by case, model and loop, in the order of the results."""
    cells: dict[tuple[str, str, str], Cell] = {}
    for result in results:
        cells.setdefault(result.place, Cell()).results.append(result)
    return cells
