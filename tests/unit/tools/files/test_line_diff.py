"""The difference by lines: a diff that `patch` understands, line numbers, and bounds."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.tools.files.line_diff import LONGEST_DIFF, MOST_LINES, line_count, line_diff, lines_of


def patched(old: str, diff: str) -> str:
    """Apply a unified diff that is not shortened."""
    lines, out, at, sign = lines_of(old), list[str](), 0, ""
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            start, _, length = line.split(" ")[1][1:].partition(",")
            begin = int(start) - (length != "0")
            out += lines[at:begin]
            at = begin
        elif line.startswith("\\"):
            if sign != "-":
                out[-1] = out[-1].removesuffix("\n")
        else:
            sign = line[0]
            at += sign in " -"
            out += [f"{line[1:]}\n"] if sign in " +" else []
    return "".join(out + lines[at:])


def test_a_small_change():
    """Line numbers are those of the whole file, although only the lines around the change are compared."""
    old = "".join(f"line {n}\n" for n in range(1, 101))
    diff = line_diff(old, old.replace("line 50\n", "line fifty\nand more\n"), "a.txt")
    assert diff.text == (
        "--- a.txt\n+++ a.txt\n@@ -47,7 +47,8 @@\n line 47\n line 48\n line 49\n-line 50\n+line fifty\n+and more\n"
        " line 51\n line 52\n line 53"
    )
    assert (diff.added, diff.removed, diff.first_changed_line) == (2, 1, 50)


@pytest.mark.parametrize(
    ("old", "new", "first", "text"),
    [
        ("a", "b", 1, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file"),
        ("a\nb", "a\nb\n", 2, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b"),
        ("a\r\nb\r\n", "a\r\nc\r\n", 2, "@@ -1,2 +1,2 @@\n a\n-b\n+c"),
        ("a\nb\n", "a\n", 1, "@@ -1,2 +1 @@\n a\n-b"),
        ("a\n", "", 1, "@@ -1 +0,0 @@\n-a"),
        ("", "a\n", 1, "@@ -0,0 +1 @@\n+a"),
    ],
)
def test_ends_of_files(old: str, new: str, first: int, text: str):
    """A missing line break at the end is noted; the first changed line is a line of the new file."""
    diff = line_diff(old, new, "x")
    assert diff.text == f"--- x\n+++ x\n{text}"
    assert diff.first_changed_line == first


_LINES = st.lists(st.sampled_from(["a", "b", "", "c d"]), max_size=12).map("\n".join)


@given(_LINES, _LINES, st.integers(0, 8))
def test_any_diff_gives_the_new_text(old: str, new: str, before: int):
    """Applying the diff to the old text gives the new one; the counts are those of the diff."""
    head = "same\n" * before
    old, new = head + old, head + new
    if old == new:
        return
    diff = line_diff(old, new, "x")
    assert patched(old, diff.text) == new
    body = diff.text.split("\n")[2:]
    assert (diff.added, diff.removed) == tuple(sum(line.startswith(sign) for line in body) for sign in "+-")
    assert lines_of(old)[: diff.first_changed_line - 1] == lines_of(new)[: diff.first_changed_line - 1]


@pytest.mark.parametrize("text", ["", "a", "a\n", "a\nb", "\n", "a\u2028b\x0cc\n"])
def test_only_line_feeds_end_lines(text: str):
    """The lines make up the text, and their number is the count."""
    assert "".join(lines_of(text)) == text
    assert len(lines_of(text)) == line_count(text)


def test_large_changes_are_summarized():
    """A rewrite of a large file is counted without comparing its lines, and the diff stays short."""
    old = "".join(f"{n}\n" for n in range(50_000))
    diff = line_diff(old, old.replace("\n", ";\n"), "x")
    assert (diff.added, diff.removed) == (50_000, 50_000)
    assert len(diff.text) <= LONGEST_DIFF + 30
    assert diff.text.endswith("more lines")


def test_a_long_line_is_cut():
    """A minified file does not fill the result."""
    diff = line_diff("a" * 100_000, "a" * 100_000 + "b", "x")
    assert len(diff.text) < 1_000


def test_difflib_gets_few_lines():
    """The worst input within the bound, found by trying patterns, takes well under a second."""
    old = "".join(f"{n * n % 97}\n" for n in range(MOST_LINES))
    new = "".join(f"{n * 31 % 97}\n" for n in range(MOST_LINES))
    begin = perf_counter()
    line_diff(f"x\n{old}y\n", f"z\n{new}w\n", "x")
    assert perf_counter() - begin < 5
