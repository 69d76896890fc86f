"""The check for retired words: findings, exceptions, and the state of the repository."""

from pathlib import Path

import pytest

from scripts import words
from scripts.words import WordList

LIST = """
[[word]]
pattern = "levers?"
use = "flag override"

[[word]]
pattern = "of its own"
use = "own"

[[name]]
names = ["tell"]
use = "emit"

[[title]]
path = "docs/decisions/*"
reason = "text stays"

[[allowed]]
words = ["lever"]
paths = ["a/*.py"]
phrases = ["lever.json"]
reason = "a file of version 0.1"
"""


@pytest.fixture
def word_list(tmp_path: Path) -> WordList:
    """Load the small list above."""
    path = tmp_path / "words.toml"
    path.write_text(LIST)
    return WordList.load(path)


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("b.py", "# Pull the lever.\n", ["b.py:1: “lever”"]),
        ("b.py", "x = 1\nclass SharedLever:\n    _old_levers = x\n", ["b.py:2: “Lever”", "b.py:3: “levers”"]),
        ("b.py", "clever = leverage\n", []),
        ("b.py", "# a process of its\n# own\n", ["b.py:1: “of its # own”"]),
        ("b.py", "def tell(x): ...\n", ["b.py:1: “def tell”"]),
        ("b.py", "def tell_reader(x): ...\nx.tell()\n", []),
        ("b.ts", "const tell = (x: number) => x\n", ["b.ts:1: “const tell”"]),
        ("flags/lever.py", "", ["flags/lever.py:0: “lever”"]),
        ("docs/decisions/0001-x.md", "# 0001 The lever\n\nThe lever stays.\n", ["docs/decisions/0001-x.md:1: “lever”"]),
        ("a/x.py", "FILE = 'lever.json'\nlever = 1\n", ["a/x.py:2: “lever”"]),
    ],
    ids=[
        "comment",
        "identifiers",
        "part of a word",
        "wrapped",
        "function",
        "other function",
        "script",
        "path",
        "title",
        "phrase",
    ],
)
def test_a_retired_word_is_found(word_list: WordList, path: str, text: str, found: list[str]) -> None:
    """Each finding has a file, a line, the word and its replacement."""
    assert [str(finding).partition(" is retired")[0] for finding in word_list.check(path, text)] == found


def test_a_finding_says_what_to_use(word_list: WordList) -> None:
    """The message ends with the replacement."""
    (finding,) = word_list.check("b.md", "the lever")
    assert str(finding).endswith("use flag override")


def test_an_exception_without_need_is_reported(word_list: WordList) -> None:
    """An exception is unused until a file needs it."""
    assert [entry.reason for entry in word_list.unused()] == ["a file of version 0.1"]
    assert list(word_list.check("a/x.py", "FILE = 'lever.json'")) == []
    assert word_list.unused() == []


def test_a_planted_word_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The real list rejects a file with a retired word and names its line."""
    planted = tmp_path / "planted.py"
    planted.write_text('"""Fine."""\n\n# Whoever reads this.\n')
    assert words.main([str(planted)]) == 1
    assert f"{planted}:3: “Whoever”" in capsys.readouterr().out


def test_the_repository_is_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """No file in git has a retired word, and each exception is still needed."""
    assert words.main([]) == 0, capsys.readouterr().out
