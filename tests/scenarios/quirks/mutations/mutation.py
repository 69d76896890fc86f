"""A rule taken out of the code, written as a text and what stands in its place, and the tests that must see it."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.conftest import ROOT
from tests.project.docs.test_quirks import ids_of

PACKAGE = Path("backend/signalbox")


@dataclass(frozen=True, slots=True)
class Mutation:
    """Takes one rule of a quirk out: `old` stands once in `file`; with `new` instead, a test of the id turns red."""

    quirk: str
    rule: str
    file: str
    old: str
    new: str

    @property
    def expression(self) -> str:
        """What its tests are called by, as pytest's -k takes it."""
        return f"_{self.quirk[0].lower()}{int(self.quirk[1:]):02}_"

    def path(self, root: Path = ROOT) -> Path:
        """Say where the file lies in a copy of the repository."""
        return root / PACKAGE / self.file

    def taken_out(self, source: str) -> str:
        """Return the source without the rule; raises ValueError where the table has gone stale."""
        if (found := source.count(self.old)) != 1:
            raise ValueError(f"{self.quirk} ({self.rule}): its text stands {found} times in {self.file}")
        return source.replace(self.old, self.new)


@cache
def named_tests(root: Path = ROOT) -> dict[str, tuple[str, ...]]:
    """Find the tests of each quirk by their names, as node ids: a run of them need not collect all the others."""
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for quirk in ids_of(node.name):
                    found.setdefault(quirk, []).append(f"{path.relative_to(root)}::{node.name}")
    return {quirk: tuple(names) for quirk, names in found.items()}
