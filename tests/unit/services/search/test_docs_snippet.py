"""Snippets of sections: whole sentences around the search terms, and code only without prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.services.search.docs_snippet import LONGEST, snippet, stem, stems


def test_a_short_section_is_shown_whole():
    """Lines of a paragraph are joined, and list items become sentences."""
    body = "A run is one request\nand one answer. It ends once.\n\n- Stops at once.\n- Costs are told."
    assert snippet(body, {"run"}) == "A run is one request and one answer. It ends once. Stops at once. Costs are told."


def test_it_starts_at_the_sentence_with_the_terms():
    """If the opening has none of the terms, the snippet starts at the first sentence with most of them."""
    body = "Filler stands here for a while. " * 20 + "The needle lies in the hay. More of it follows."
    assert snippet(body, stems("needles hay")) == "The needle lies in the hay. More of it follows."


def test_it_starts_at_the_beginning_if_that_has_the_terms():
    """An opening definition is not cut off."""
    body = "The clamp limits searches. Six are sent. A clamp is told once."
    assert snippet(body, {"clamp"}).startswith("The clamp limits searches.")


def test_only_whole_sentences_are_shown():
    """A sentence that no longer fits is omitted."""
    body = "One sentence that is short. " + "X" * (LONGEST - 20) + ". Another."
    assert snippet(body, {"sentenc"}) == "One sentence that is short."


def test_code_is_shown_only_without_prose():
    """Indented lines are code; the words before it end with a full stop."""
    body = "Set a token:\n\n    TOKEN=x\n    HOST=y\n\nThe token is asked for."
    assert snippet(body, {"token"}) == "Set a token. The token is asked for."
    assert snippet("    TOKEN=x\n    HOST=y", {"token"}) == "TOKEN=x HOST=y"


def test_a_long_sentence_is_cut_around_the_word():
    """Text without sentences still shows the word, between ellipses."""
    text = snippet("filler words here " * 500 + "the needle lies here " + "more of it " * 500, {"needl"})
    assert text.startswith("…")
    assert "needle lies here" in text
    assert text.endswith("…")
    assert len(text) <= LONGEST


@pytest.mark.parametrize(
    ("one", "other"), [("searches", "search"), ("limited", "limits"), ("retried", "retries"), ("Tools", "tool")]
)
def test_forms_of_a_word_have_one_stem(one: str, other: str):
    """Common endings and case make no difference."""
    assert stem(one) == stem(other)


@given(st.text(max_size=300), st.sets(st.text(max_size=5), max_size=3), st.integers(20, 100))
def test_any_text_gives_a_short_line(body: str, words: set[str], longest: int):
    """The snippet of any text is one line within the limit."""
    shown = snippet(body, words, longest)
    assert len(shown) <= longest
    assert "\n" not in shown
