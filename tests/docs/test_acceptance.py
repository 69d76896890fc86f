"""docs/acceptance.md names tests that exist, for every row of the survey and every promise."""

import ast
import re
from functools import cache

import pytest

from tests.docs.pages import ROOT, codes_in, page, rows

PAGE = page("acceptance.md")
ROWS = [cells for heading in PAGE.headings[1:] for cells in rows(heading.body)]
NAMED = sorted({code for cells in ROWS for code in codes_in(cells[-1]) if "::" in code})


@cache
def _tests_in(path: str) -> frozenset[str]:
    """Return the names of the tests of a file, those in classes too."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


@pytest.mark.parametrize("path", sorted({name.partition("::")[0] for name in NAMED}))
def test_every_test_that_is_named_exists(path: str) -> None:
    """Each name is a test function of its file."""
    named = {name.partition("::")[2] for name in NAMED if name.startswith(f"{path}::")}
    assert named - _tests_in(path) == set()


def test_every_row_of_the_survey_is_there() -> None:
    """PS-01 to PS-31, each once and in order."""
    listed = [cells[0] for cells in ROWS if re.fullmatch(r"PS-\d\d", cells[0])]
    assert listed == [f"PS-{number:02}" for number in range(1, 32)]


def test_every_promise_has_a_test_or_a_reason() -> None:
    """A row names tests, or says `later` and why; and hardly any is left for later."""
    promises = [cells for cells in ROWS if cells not in list(rows(PAGE.section("What is outside this page")))]
    without = [cells for cells in promises if not any("::" in code for code in codes_in(cells[-1]))]
    assert [cells for cells in without if not re.match(r"later: \w+ \w+", cells[-1])] == []
    assert len(without) < len(promises) / 20


def test_a_test_that_is_not_there_would_be_noticed() -> None:
    """The names are read from the files' own syntax, not searched for in their text."""
    assert "test_every_row_of_the_survey_is_there" in _tests_in("tests/docs/test_acceptance.py")
    assert "test_of_no_file" not in _tests_in("tests/docs/test_acceptance.py")
