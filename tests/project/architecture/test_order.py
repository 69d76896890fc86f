"""The slowest test files start first."""

from dataclasses import dataclass
from typing import Any, cast

from tests.conftest import ROOT
from tests.order import LONGEST_FIRST, longest_first

TESTS = ROOT / "tests"


@dataclass
class Item:
    """A test with only an id and a number."""

    nodeid: str
    number: int


def test_the_longest_files_come_first() -> None:
    """Other files follow in their collected order, and so do the tests of one file."""
    names = ["access/test_names.py", LONGEST_FIRST[1], "wire/test_a.py", LONGEST_FIRST[0], LONGEST_FIRST[1]]
    items = [Item(f"tests/{name}::test_it[a/b]", number) for number, name in enumerate(names)]
    ordered = cast("list[Item]", longest_first(cast("Any", items), TESTS.name))
    assert [item.number for item in ordered] == [3, 1, 4, 0, 2]


def test_each_file_that_is_named_exists_and_is_named_once() -> None:
    """Every file of the list exists and is listed once."""
    assert [name for name in LONGEST_FIRST if not (TESTS / name).is_file()] == []
    assert len(set(LONGEST_FIRST)) == len(LONGEST_FIRST)
