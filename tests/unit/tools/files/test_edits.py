"""Exact replacements: which texts they give, and which error each wrong edit gets."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.tools.files.edits import LARGEST_TEXT, Edit, edited, edits_of

TEXT = "<h1>One</h1>\n<p>two</p>\n<p>two</p>\n"


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ([Edit("One", "1")], TEXT.replace("One", "1")),
        ([Edit("<p>two</p>\n", "", 2)], "<h1>One</h1>\n"),
        ([Edit("two", "zwei", -1)], TEXT.replace("two", "zwei")),
        ([Edit("One", "two"), Edit("two", "three", 3)], TEXT.replace("One", "two").replace("two", "three")),
        ([Edit("h1>\n<p>two", "h1>\n<p>three")], TEXT.replace("two", "three", 1)),
    ],
)
def test_edits_are_applied_in_order(edits: list[Edit], wanted: str):
    """Each edit sees the result of those before it; an empty new_text deletes."""
    assert edited(TEXT, edits) == wanted


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ([Edit("two", "2")], "old_text: occurs 2 times, so it is not unique"),
        ([Edit("two", "2", 3)], "old_text: occurs 2 times, but count is 3"),
        ([Edit("One", "1", 2)], "old_text: occurs once, but count is 2"),
        ([Edit("<h2>", "<h3>")], "old_text: does not occur in the file"),
        ([Edit("<h1>One</h1>\n\n<p>", "x")], "Line 1 of the file contains '<h1>One</h1>'"),
        ([Edit("One", "1"), Edit("One", "2", field="edits[1].")], "edits[1].old_text: does not occur"),
        ([Edit("One", "1"), Edit("1<", "One<")], "edits: together they change nothing"),
        ([Edit("o", "o" * LARGEST_TEXT, -1)], "new_text: the file would become larger than 1 MB"),
    ],
)
def test_an_edit_that_does_not_fit_says_why(edits: list[Edit], words: str):
    """The error names the field, and the number of matches."""
    with pytest.raises(ToolError) as caught:
        edited(TEXT, edits)
    assert words in caught.value.message
    assert caught.value.code is Code.INVALID_ARGUMENTS


def test_overlapping_matches_are_not_unique():
    """`aa` occurs once without overlap in `aaa`, but in two places."""
    with pytest.raises(ToolError, match="places that overlap"):
        edited("aaa", [Edit("aa", "b")])


def test_a_file_with_crlf_keeps_it():
    """A model writes line feeds; the file's own line breaks stay. A file with mixed breaks must match exactly."""
    assert edited("a\r\nb\r\nc\r\n", [Edit("a\nb", "x\ny\nz")]) == "x\r\ny\r\nz\r\nc\r\n"
    assert edited("a\r\nb\r\nc\r\n", [Edit("a\r\nb", "x")]) == "x\r\nc\r\n"
    with pytest.raises(ToolError, match="does not occur"):
        edited("a\r\nb\n", [Edit("a\nb", "x")])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "old_text: is required (string), unless you send edits"),
        ({"old_text": "a"}, "new_text: is required (string), unless you send edits"),
        ({"edits": []}, "edits: expected 1 to 200 edits, got 0"),
        ({"edits": [{"old_text": "a", "new_text": "b"}] * 201}, "edits: expected 1 to 200 edits, got 201"),
        ({"edits": [{"old_text": "a", "new_text": "b"}], "count": 2}, "count: send either edits, or old_text"),
        ({"old_text": "", "new_text": "b"}, "old_text: must not be empty"),
        ({"old_text": "a", "new_text": "a"}, "new_text: is the same as old_text"),
        ({"old_text": "a", "new_text": "b", "count": 0}, "count: expected a number from 1, or -1 for every match"),
        ({"edits": [{"old_text": "a", "new_text": "b", "count": -2}]}, "edits[0].count: expected a number from 1"),
    ],
)
def test_invalid_arguments_are_named(arguments: Any, words: str):
    """Each error names its field, with the place of the edit in the list."""
    with pytest.raises(ToolError) as caught:
        edits_of(arguments)
    assert words in caught.value.message


def test_one_edit_needs_no_list():
    """The flat form is one edit."""
    assert edits_of({"old_text": "a", "new_text": "b", "count": 2}) == [Edit("a", "b", 2)]


_TEXTS = st.text(alphabet="ab\n\r<é", max_size=30)
_EDITS = st.lists(st.builds(Edit, _TEXTS.filter(bool), _TEXTS, st.sampled_from([-1, 1, 2])), min_size=1, max_size=4)


@given(_TEXTS, _EDITS)
def test_any_edits_give_the_texts_that_replacing_gives(text: str, edits: list[Edit]):
    """Either an error, or the text that the same replacements give one by one, where each count was right."""
    try:
        result = edited(text, edits)
    except ToolError:
        return
    uses_crlf = 0 < text.count("\n") == text.count("\r\n")
    for edit in edits:
        old, new = edit.old_text, edit.new_text
        if uses_crlf:
            old, new = (one.replace("\r\n", "\n").replace("\n", "\r\n") for one in (old, new))
        assert text.count(old) == edit.count or (edit.count == -1 and old in text)
        text = text.replace(old, new)
    assert result == text


def test_edits_of_a_large_file_do_bounded_work():
    """A text of 1 MB that repeats one letter is edited, although every place matches."""
    text = "a" * LARGEST_TEXT
    assert edited(text, [Edit("a", "b", -1)]) == "b" * LARGEST_TEXT
    with pytest.raises(ToolError, match="places that overlap"):
        edited(text, [Edit("a" * (LARGEST_TEXT // 2 + 1), "b")])
