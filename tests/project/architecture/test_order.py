"""The files that take longest start first."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.conftest import ROOT
from tests.order import LONGEST_FIRST, longest_first

TESTS = ROOT / "tests"


@dataclass
class Item:
    """A test, of which only the file and a number count here."""

    path: Path
    number: int


def test_the_longest_files_come_first() -> None:
    """All others follow in the order in which they were collected, and so do the tests of one file."""
    names = ["access/test_names.py", LONGEST_FIRST[1], "wire/test_a.py", LONGEST_FIRST[0], LONGEST_FIRST[1]]
    items = [Item(TESTS / name, number) for number, name in enumerate(names)]
    ordered = cast("list[Item]", longest_first(cast("Any", items), TESTS))
    assert [item.number for item in ordered] == [3, 1, 4, 0, 2]


def test_each_file_that_is_named_exists_and_is_named_once() -> None:
    """A file that was renamed is renamed in the list, too."""
    assert [name for name in LONGEST_FIRST if not (TESTS / name).is_file()] == []
    assert len(set(LONGEST_FIRST)) == len(LONGEST_FIRST)
