"""The table of dialects and quirks is complete, and its tests exist."""

import re

from signalbox.wire.dialects import DIALECTS

from tests.project.docs.names_of_tests import titles_in
from tests.project.docs.pages import codes_in, page, rows
from tests.project.docs.test_quirks import IDS

_HEADING = "Quirks of each API"
_IDS = re.compile(r"\(([^()]+)\)$")
_RANGE = re.compile(r"([A-H])(\d+) to [A-H](\d+)")
_COMMON = "common code"


def _table() -> list[list[str]]:
    return [*rows(page("quirks.md").section(_HEADING))]


def _ids_of(cell: str) -> list[str]:
    """Return the ids at the end of a cell: "(A1 to A3, B7)" names four."""
    found = _IDS.search(cell)
    assert found, cell
    ids: list[str] = []
    for name in found[1].split(", "):
        span = _RANGE.fullmatch(name)
        ids += [f"{span[1]}{number}" for number in range(int(span[2]), int(span[3]) + 1)] if span else [name]
    return ids


def test_it_has_every_dialect() -> None:
    """Each dialect but OpenRouter's, which the tables above describe, has a column."""
    (head,) = [line for line in page("quirks.md").section(_HEADING).splitlines() if line.startswith("| quirks |")]
    assert codes_in(head) == set(DIALECTS) - {"openrouter-chat"}


def test_every_quirk_is_in_one_row() -> None:
    """No quirk is missing or named twice."""
    named = [quirk for cells in _table() for quirk in _ids_of(cells[0])]
    assert sorted(named) == sorted([*IDS, *(f"H{number}" for number in range(1, 12))])


def test_every_cell_says_yes_or_why_not() -> None:
    """A quirk that cannot occur has a reason."""
    for _, *cells, _ in _table():
        assert len(cells) == 4
        assert all(re.fullmatch(r"yes(?:, .+)?|no: .{8,}", cell) for cell in cells), cells


def test_every_row_names_tests_that_exist() -> None:
    """Common code is tested by the tests of the other tables."""
    for what, *_, tests in _table():
        assert tests == _COMMON or codes_in(tests), what
        for name in codes_in(tests) if tests != _COMMON else ():
            path, _, title = name.partition("::")
            assert title in titles_in(path), name
