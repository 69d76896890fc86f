"""Compares the results of two executions of a set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from signalbox.evals.results import Result
from signalbox.evals.summary import Cell, cells_of

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from the first results to the second, by case, model and loop."""

    before: dict[Place, Cell]
    after: dict[Place, Cell]

    @property
    def both(self) -> list[Place]:
        """What has results in both."""
        return [place for place in self.before if place in self.after]

    @property
    def regressions(self) -> list[Place]:
        """What passes less often than before."""
        return [place for place in self.both if self.after[place].rate < self.before[place].rate]

    @property
    def fixes(self) -> list[Place]:
        """What passes more often than before."""
        return [place for place in self.both if self.after[place].rate > self.before[place].rate]

    def lines(self) -> Iterator[str]:
        """Yield the comparison as text."""
        yield from self._changed("Regressions", self.regressions, shows_why=True)
        yield from self._changed("Fixes", self.fixes, shows_why=False)
        yield from _named("Only in the first", [place for place in self.before if place not in self.after])
        yield from _named("Only in the second", [place for place in self.after if place not in self.before])
        unchanged = len(self.both) - len(self.regressions) - len(self.fixes)
        yield f"Unchanged: {unchanged} of {len(self.both)} in both."
        if self.both:
            yield self._difference("Cost per run", [(self.before[one].cost, self.after[one].cost) for one in self.both])
            pairs = [(self.before[one].seconds, self.after[one].seconds) for one in self.both]
            yield self._difference("Time per run", pairs)

    def _changed(self, title: str, places: Sequence[Place], *, shows_why: bool) -> Iterator[str]:
        yield f"{title}: {len(places) or 'none'}"
        for place in places:
            before, after = self.before[place], self.after[place]
            passed = f"{before.passed}/{before.total} → {after.passed}/{after.total} passed"
            yield f"  {_shown(place)}: {passed}"
            if shows_why:
                yield from (f"    {line}" for line in _why(after))

    @staticmethod
    def _difference(title: str, pairs: Sequence[tuple[float, float]]) -> str:
        before, after = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
        is_cost = title.startswith("Cost")
        shown = [f"${value:.6f}" if is_cost else f"{value:.2f} s" for value in (before, after)]
        change = f" ({(after - before) / before:+.0%})" if before else ""
        return f"{title}: {shown[0]} → {shown[1]}{change}"


def compare(before: Sequence[Result], after: Sequence[Result]) -> Comparison:
    """Compare the last attempts of two executions."""
    return Comparison(cells_of(_last(before)), cells_of(_last(after)))


def _last(results: Sequence[Result]) -> list[Result]:
    """Return the last attempt of each trial; a changed case replaces its earlier form."""
    last = {(result.place, result.repeat): result for result in results}
    return [last[key] for key in sorted(last)]


def _named(title: str, places: Sequence[Place]) -> Iterator[str]:
    if places:
        yield f"{title}: {len(places)}"
        yield from (f"  {_shown(place)}" for place in places)


def _shown(place: Place) -> str:
    case, model, loop = place
    return f"{case} · {model} · {loop} loop"


def _why(cell: Cell) -> Iterator[str]:
    """Yield each different reason once."""
    reasons: dict[str, None] = {}
    for result in cell.results:
        if result.outcome == "error":
            reasons[f"error: {result.error or result.status}"] = None
        for check in result.failed_checks if result.outcome == "fail" else []:
            reasons[f"{check.name}: {check.detail}"] = None
    yield from reasons
