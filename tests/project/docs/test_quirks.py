"""The table of quirks is complete: a row for every id, an existing test for every row, a row for every test."""

import ast
import re
from collections import Counter

from tests.project.docs.names_of_tests import titles_in
from tests.project.docs.pages import ROOT, codes_in, page, rows

SECTIONS = {"A": 20, "B": 14, "C": 16, "D": 7, "E": 14, "F": 7, "G": 6}
IDS = [f"{section}{number}" for section, most in SECTIONS.items() for number in range(1, most + 1)]
_REASON = re.compile(r"\b(?:later|does not apply): \w[^|]{20,}")


def _table() -> list[list[str]]:
    """Return the rows of the sections that need tests."""
    return [cells for cells in rows(page("quirks.md").text) if cells[0][0] in SECTIONS]


def _tests() -> dict[str, list[str]]:
    """Return the names of all tests whose name begins with a quirk id, by id."""
    found: dict[str, list[str]] = {}
    for path in ROOT.glob("tests/**/test_*.py"):
        if any(part.startswith(".") for part in path.relative_to(ROOT).parts):
            continue  # environments of clients, which have tests too
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for quirk in ids_of(node.name):
                    found.setdefault(quirk, []).append(node.name)
    return found


def ids_of(name: str) -> list[str]:
    """Return the ids in a test's name: `test_e05_e06_…` has two."""
    found: list[str] = []
    for word in name.split("_")[1:]:
        if not re.fullmatch(r"[a-g]\d{2}", word):
            break
        found.append(f"{word[0].upper()}{int(word[1:])}")
    return found


def test_every_quirk_has_one_row() -> None:
    """The ids are in order, without repetitions or gaps."""
    assert [cells[0] for cells in _table()] == IDS


def test_every_row_says_what_happens_and_what_is_done() -> None:
    """Each row has four cells that are not empty, and texts are sentences."""
    for cells in _table():
        assert len(cells) == 4, cells
        assert all(cell.endswith((".", ".)")) for cell in cells[1:3]), cells


def test_every_row_names_a_test_that_exists_or_a_reason() -> None:
    """Each row names a test that begins with its id, or says why there is none."""
    tests = _tests()
    without: list[str] = []
    for quirk, _, done, named in _table():
        if codes_in(named):
            assert codes_in(named) <= {*tests.get(quirk, [])}, (quirk, named)
        else:
            without.append(quirk)
            assert _REASON.search(done), quirk
    counted = Counter(quirk[0] for quirk, names in tests.items() for _ in names)
    print(
        f"\n{len(IDS)} quirks, {sum(counted.values())} tests by id {dict(sorted(counted.items()))}, none for {without}"
    )


def test_every_test_of_a_quirk_has_its_row() -> None:
    """Every id in a test's name is in the table."""
    assert {*_tests()} <= {*IDS}


def test_every_quirk_of_the_page_names_tests_of_the_page() -> None:
    """H1 to H11 have sentences and existing test titles."""
    table = [cells for cells in rows(page("quirks.md").text) if re.fullmatch(r"H\d+", cells[0])]
    assert [cells[0] for cells in table] == [f"H{number}" for number in range(1, 12)]
    for quirk, what, done, named in table:
        assert what.endswith("."), quirk
        assert done.endswith("."), quirk
        assert codes_in(named), quirk
        for name in codes_in(named):
            path, _, title = name.partition("::")
            assert title in titles_in(path), name


def test_every_test_among_the_quirks_carries_an_id() -> None:
    """Each test name in tests/scenarios/quirks begins with a quirk id."""
    for path in ROOT.glob("tests/scenarios/quirks/test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                assert ids_of(node.name), f"{path.name}: {node.name}"
