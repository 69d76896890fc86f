"""What counts as being about a question, and what is quoted of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.simulator.model.relevance import content_stems, is_about, quote, shared


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("searches limited", "The limit of a search is six.", True),
        ("built Eiffel tower", "All tools are built in.", False),
        ("capital France", "A code is one word in capitals.", False),
        ("tool loop decide", "The loop runs a tool.", True),
        ("max_steps", "max_steps counts calls", True),
        ("clamp", "The code TOOL_CLAMP is told.", True),
        ("art", "An article on something else", False),
        ("what is it", "It is what it is.", True),
    ],
)
def test_a_text_is_about_a_query(query: str, text: str, expected: bool) -> None:
    """One or two content_stems words must all be there in some form, of more most of them."""
    words = content_stems(query)
    assert is_about(words, shared(words, text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", "One. Two."),
        ("…cut off. Whole one. Cut at the…", "Whole one."),
        ("…only a piece…", "only a piece"),
        ("One. … [Other] Two.", "One."),
        ("", ""),
        ("Long " + "word " * 100 + ". Next.", None),
    ],
)
def test_whole_sentences_before_the_gap(text: str, expected: str | None) -> None:
    """Pieces of sentences are quoted only where there is nothing else, and nothing gets too long."""
    quoted = quote(text, 100)
    assert len(quoted) <= 102
    assert expected is None or quoted == expected


@given(st.text(alphabet="ab.!? …[]", max_size=80), st.text(max_size=20))
def test_no_text_is_too_odd(text: str, query: str) -> None:
    """Any snippet can be quoted, and any query asked."""
    assert len(quote(text, 40)) <= 42
    assert shared(content_stems(query), text) <= content_stems(query)
