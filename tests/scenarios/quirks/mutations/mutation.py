"""A rule to remove from the code: the text, its replacement, and the tests that must fail."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.conftest import ROOT
from tests.project.docs.test_quirks import ids_of

PACKAGE = Path("backend/signalbox")


@dataclass(frozen=True, slots=True)
class Mutation:
    """A rule of a quirk: `old` occurs once in `file`; if `new` replaces it, a test of the id must fail."""

    quirk: str
    rule: str
    file: str
    old: str
    new: str

    @property
    def expression(self) -> str:
        """Return pytest's -k expression for its tests."""
        return f"_{self.quirk[0].lower()}{int(self.quirk[1:]):02}_"

    def path(self, root: Path = ROOT) -> Path:
        """Return the file's path in a copy of the repository."""
        return root / PACKAGE / self.file

    def taken_out(self, source: str) -> str:
        """Return the source without the rule; raise ValueError if `old` does not occur exactly once."""
        if (found := source.count(self.old)) != 1:
            raise ValueError(f"{self.quirk} ({self.rule}): its text stands {found} times in {self.file}")
        return source.replace(self.old, self.new)


@cache
def named_tests(root: Path = ROOT) -> dict[str, tuple[str, ...]]:
    """Return the tests of each quirk, found by their names, as node ids: a run need not collect all others."""
    found: dict[str, list[str]] = {}
    # The tests with real clients keep their packages in a hidden folder.
    shown = (path for path in (root / "tests").rglob("test_*.py") if "/." not in str(path.relative_to(root)))
    for path in sorted(shown):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for quirk in ids_of(node.name):
                    found.setdefault(quirk, []).append(f"{path.relative_to(root)}::{node.name}")
    return {quirk: tuple(names) for quirk, names in found.items()}
