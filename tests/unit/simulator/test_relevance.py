"""Which results are about a question, and what is quoted of them."""

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
        ("clamp", "The code TOOL_CLAMP is reported.", True),
        ("art", "An article on something else", False),
        ("what is it", "It is what it is.", True),
    ],
)
def test_relevance_of_texts(query: str, text: str, expected: bool) -> None:
    """Of one or two content words all must be found, of more most of them."""
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
def test_quotes(text: str, expected: str | None) -> None:
    """Incomplete sentences are quoted only if there is nothing else, and quotes have a maximum length."""
    quoted = quote(text, 100)
    assert len(quoted) <= 102
    assert expected is None or quoted == expected


@given(st.text(alphabet="ab.!? …[]", max_size=80), st.text(max_size=20))
def test_any_text_and_query(text: str, query: str) -> None:
    """Any snippet can be quoted, and any query matched."""
    assert len(quote(text, 40)) <= 42
    assert shared(content_stems(query), text) <= content_stems(query)
