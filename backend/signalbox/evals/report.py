"""Writes the report: one HTML page without scripts, that needs no other file.

Its text comes from models, tools and set files, so all of it is escaped, and a policy in the page forbids scripts.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from signalbox.evals.loading import LoadedSet
from signalbox.evals.report_cases import MARKS, case_section
from signalbox.evals.results import Result, ResultsError, latest
from signalbox.evals.summary import Cell, Column, totals_of
from signalbox.evals.trials import Trial

FILE = "report.html"
_STYLE = Path(__file__).with_name("report.css")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Report:
    """What the report shows: a set, its results, and the server that answered."""

    loaded: LoadedSet
    attempts: Sequence[Result]
    server: str
    secrets: Sequence[str] = field(default=(), repr=False)

    def write(self, folder: Path) -> Path:
        """Replace the report in a folder; raises ResultsError."""
        path, new = folder / FILE, folder / f".{FILE}.new"
        try:
            new.write_bytes(self._without_secrets("".join(self._page())).encode("utf-8", "replace"))
            os.replace(new, path)  # noqa: PTH105 - atomic
        except OSError as error:
            raise ResultsError(f"The report {path} cannot be written: {error.strerror}.") from None
        return path

    def _without_secrets(self, page: str) -> str:
        for secret in filter(None, self.secrets):
            page = page.replace(escape(secret), "[secret]")
        return page

    def _page(self) -> Iterator[str]:
        name = escape(self.loaded.name)
        yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}: eval report</title>\n'
        yield f'<meta http-equiv="content-security-policy" content="{_POLICY}">\n'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        yield f"<style>\n{_STYLE.read_text('utf-8')}</style></head><body>\n"
        yield from self._header(name)
        yield "<main>"
        yield from self._table()
        yield from self._cases()
        yield "</main></body></html>\n"

    def _header(self, name: str) -> Iterator[str]:
        results = self._results
        totals = totals_of([*results.values()], len(self.loaded.trials), self._attempts)
        at = max((result.at for result in results.values()), default=datetime.now(UTC).isoformat())
        numbers = {"passed": ("pass", totals.passed), "failed": ("fail", totals.failed)}
        numbers["error" if totals.errors == 1 else "errors"] = ("error", totals.errors)
        numbers["not executed"] = ("missing", totals.missing)
        about = f"{self.server} · {at[:16].replace('T', ' ')} UTC"
        yield f'<header id="top"><h1>{name}</h1><p class="dim">{escape(about)}</p>\n'
        yield '<ul class="totals">'
        for words, (kind, number) in numbers.items():
            if number or words in ("passed", "failed"):
                yield f'<li><b class="{kind if number else "dim"}">{number}</b> {words}</li>'
        yield f"<li><b>${totals.cost:.4f}</b> in {len(self._attempts)} attempts</li></ul></header>\n"

    def _table(self) -> Iterator[str]:
        yield '<div class="scroll"><table><thead><tr><th scope="col">Case</th>'
        for model, loop in self._columns:
            yield f'<th scope="col">{escape(model)}<br>{escape(loop)} loop</th>'
        yield "</tr></thead><tbody>\n"
        for case_id, cells in self._cells.items():
            yield f'<tr><th scope="row"><a href="#case-{escape(case_id)}">{escape(case_id)}</a></th>'
            for column in self._columns:
                yield f"<td>{_cell(cells[column], case_id) if column in cells else ''}</td>"
            yield "</tr>\n"
        yield "</tbody></table></div>\n"

    def _cases(self) -> Iterator[str]:
        questions, results = self.loaded.questions, self._results
        trials: dict[str, list[Trial]] = {}
        for trial in self.loaded.trials:
            trials.setdefault(trial.question.case.id, []).append(trial)
        retried: dict[str, list[Result]] = {}
        for result in self._attempts:
            if result.will_retry:
                retried.setdefault(result.digest, []).append(result)
        for place, question in enumerate(questions):
            own = trials[question.case.id]
            found = [results[trial.digest] for trial in own if trial.digest in results]
            before = questions[place - 1].case.id if place else None
            after = questions[place + 1].case.id if place + 1 < len(questions) else None
            yield from case_section(question, found, retried, len(own) - len(found), (before, after))

    @property
    def _attempts(self) -> list[Result]:
        """The attempts of trials of the set, without those of cases that were changed since."""
        known = {trial.digest for trial in self.loaded.trials}
        return [result for result in self.attempts if result.digest in known]

    @property
    def _results(self) -> dict[str, Result]:
        return latest(self._attempts)

    @property
    def _columns(self) -> list[Column]:
        return [*dict.fromkeys(map(_column, self.loaded.trials))]

    @property
    def _cells(self) -> dict[str, dict[Column, Cell]]:
        cells: dict[str, dict[Column, Cell]] = {}
        results = self._results
        for trial in self.loaded.trials:
            cell = cells.setdefault(trial.question.case.id, {}).setdefault(_column(trial), Cell())
            if trial.digest in results:
                cell.results.append(results[trial.digest])
            else:
                cell.missing += 1
        return cells


def _column(trial: Trial) -> Column:
    return trial.model, trial.loop or "default"


def _cell(cell: Cell, case_id: str) -> str:
    """Link a cell to its first result that did not pass."""
    worst = [result for kind in ("fail", "error", "pass") for result in cell.results if result.outcome == kind]
    kind = worst[0].outcome if worst and (worst[0].outcome != "pass" or not cell.missing) else "missing"
    target = f"r-{worst[0].digest}" if worst else f"case-{case_id}"
    label = f"{MARKS[kind]} {cell.passed}/{cell.total}"
    figures = f'<br><span class="dim">{cell.seconds:.1f} s · ${cell.cost:.4f}</span>' if cell.results else ""
    return f'<a class="{kind}" href="#{escape(target)}">{label}</a>{figures}'
