"""The stored outcomes, and the tables of docs/runner-comparison.md that are made of them."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.comparison.cases import CASES, Case
from tests.comparison.libraries import HERE, LIBRARIES, ROOT
from tests.comparison.observation import Observation

RESULTS = HERE / "results.json"
PAGE = ROOT / "docs" / "runner-comparison.md"
NOT_OFFERED = "not offered"
_SUMS = {
    "lost": "tool results that are never sent to the model",
    "repeated": "repeated executions of a call",
    "repeated_requests": "requests that were repeated after a complete reply",
    "cut": "calls that were executed although the reply did not end normally",
}
Stored = Mapping[str, Any]


def outcome(case: Case, seen: Observation) -> dict[str, Any]:
    """Return what is stored of a case with one library."""
    if not seen.is_offered:
        return {"words": NOT_OFFERED}
    return {
        "words": case.describe(seen),
        "requests": len(seen.requests),
        "executions": len(seen.executions),
        "lost": 0 if case.may_lose else seen.lost,
        "repeated": seen.repeated,
        "repeated_requests": seen.repeated_requests,
        "cut": len(seen.executions) if case.is_cut else 0,
    }


def load(path: Path = RESULTS) -> Stored:
    """Return the stored outcomes."""
    return json.loads(path.read_text(encoding="utf-8"))


def tables(stored: Stored) -> dict[str, str]:
    """Return the tables as Markdown, by name."""
    names = [library.name for library in LIBRARIES]
    cases: Mapping[str, Mapping[str, Mapping[str, Any]]] = stored["cases"]
    versions = [[library, stored["versions"][library]] for library in names]
    sums = [
        [words, *(str(sum(cases[case.key][name].get(key, 0) for case in CASES)) for name in names)]
        for key, words in _SUMS.items()
    ]
    sums.append(["cases for which the library has no method", *(str(_not_offered(cases, name)) for name in names)])
    details = [[case.title, *(cases[case.key][name]["words"] for name in names)] for case in CASES]
    return {
        "versions": _table(["library", "version"], versions),
        "counts": _table([f"count over all {len(CASES)} cases", *names], sums),
        "cases": _table(["case", *names], details),
    }


def with_tables(text: str, made: Mapping[str, str]) -> str:
    """Return a page's text with these tables."""
    for name, table in made.items():
        text = re.sub(
            rf"(<!-- table: {name} -->\n).*?(<!-- end -->)",
            lambda found, table=table: f"{found[1]}\n{table}\n{found[2]}",
            text,
            flags=re.DOTALL,
        )
    return text


def _not_offered(cases: Mapping[str, Mapping[str, Mapping[str, Any]]], name: str) -> int:
    return sum(cases[case.key][name]["words"] == NOT_OFFERED for case in CASES)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"
