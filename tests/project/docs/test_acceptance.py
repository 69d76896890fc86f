"""docs/acceptance.md names existing tests for every row of the survey and every requirement."""

import re

import pytest

from tests.project.docs.names_of_tests import titles_in
from tests.project.docs.pages import codes_in, page, rows

PAGE = page("acceptance.md")
ROWS = [cells for heading in PAGE.headings[1:] for cells in rows(heading.body)]
NAMED = sorted({code for cells in ROWS for code in codes_in(cells[-1]) if "::" in code})
# Of the page: guides to providers (PS-55) and the rows between are not part of it.
SURVEY = [
    *(f"PS-{number:02}" for number in range(1, 32)),
    *(f"PS-{number}" for number in (*range(40, 55), 56)),
    "SC-27",
    *(f"ME-{number:02}" for number in range(1, 16)),
    *(f"TR-{number:02}" for number in range(1, 18)),
    *(f"SC-{number}" for number in (*range(17, 23), 25)),
    *(f"SC-{number:02}" for number in (*range(1, 17), 23, 24, 26, 28, 29, 30)),
]


@pytest.mark.parametrize("path", sorted({name.partition("::")[0] for name in NAMED}))
def test_every_test_that_is_named_exists(path: str) -> None:
    """Each name is a test function of its file, or the title of a test of the page."""
    named = {name.partition("::")[2] for name in NAMED if name.startswith(f"{path}::")}
    assert named - titles_in(path) == set()


def test_every_row_of_the_survey_is_there() -> None:
    """The rows of the survey are listed once and in order."""
    listed = [cells[0] for cells in ROWS if re.fullmatch(r"(?:PS|SC|ME|TR)-\d\d", cells[0])]
    assert listed == SURVEY


def test_every_row_of_a_runner_has_tests_with_its_id() -> None:
    """A row from TR-01 to TR-16 names at least one test of the runner with the row's id in its name."""
    for cells in (cells for cells in ROWS if re.fullmatch(r"TR-(?:0\d|1[0-6])", cells[0])):
        number = cells[0].removeprefix("TR-")
        assert any(re.search(rf"test_tr_(?:\d\d_and_)?{number}_", code) for code in codes_in(cells[-1])), cells[0]


def test_every_promise_has_a_test_or_a_reason() -> None:
    """A row names tests, or `later` with a reason; few rows are marked later."""
    promises = [cells for cells in ROWS if cells not in list(rows(PAGE.section("Not covered")))]
    without = [cells for cells in promises if not any("::" in code for code in codes_in(cells[-1]))]
    assert [cells for cells in without if not re.match(r"later: \w+ \w+", cells[-1])] == []
    assert len(without) < len(promises) / 20


def test_a_test_that_is_not_there_would_be_noticed() -> None:
    """Names are parsed from the syntax of the files, not searched for in their text."""
    here = titles_in("tests/project/docs/test_acceptance.py")
    assert "test_every_row_of_the_survey_is_there" in here
    assert "test_of_no_file" not in here
    page_tests = titles_in("frontend/src/logic/answer/openPanels.test.ts")
    assert "change without an event only when announced" in page_tests
    assert "the same, after the silence" in page_tests  # a case of `it.each`
    assert "panels stand open by themselves" not in page_tests
