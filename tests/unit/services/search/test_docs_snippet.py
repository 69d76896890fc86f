"""What is shown of a section: whole sentences, the right ones, and never code where there is prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signalbox.services.search.docs_snippet import LONGEST, snippet, stem, stems


def test_a_short_section_is_shown_whole():
    """Lines of a paragraph become one, and items of a list sentences of their own."""
    body = "A run is one request\nand one answer. It ends once.\n\n- Stops at once.\n- Costs are told."
    assert snippet(body, {"run"}) == "A run is one request and one answer. It ends once. Stops at once. Costs are told."


def test_it_begins_at_the_sentence_that_has_the_words():
    """Where the opening says nothing of them, the first sentence that has most of them comes first."""
    body = "Filler stands here for a while. " * 20 + "The needle lies in the hay. More of it follows."
    assert snippet(body, stems("needles hay")) == "The needle lies in the hay. More of it follows."


def test_it_begins_at_the_beginning_where_that_has_the_words_too():
    """A definition is not cut off because its words come again below."""
    body = "The clamp limits searches. Six are sent. A clamp is told once."
    assert snippet(body, {"clamp"}).startswith("The clamp limits searches.")


def test_only_whole_sentences_are_shown():
    """What no longer fits is left out, not cut."""
    body = "One sentence that is short. " + "X" * (LONGEST - 20) + ". Another."
    assert snippet(body, {"sentenc"}) == "One sentence that is short."


def test_code_is_shown_only_where_there_is_nothing_else():
    """Lines that are set in are code; the words that lead to them end with a full stop."""
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
def test_forms_of_a_word_are_one(one: str, other: str):
    """Commonest endings and case make no difference."""
    assert stem(one) == stem(other)


@given(st.text(max_size=300), st.sets(st.text(max_size=5), max_size=3), st.integers(20, 100))
def test_no_text_is_too_odd(body: str, words: set[str], longest: int):
    """Whatever the text, the snippet is one line that is not too long."""
    shown = snippet(body, words, longest)
    assert len(shown) <= longest
    assert "\n" not in shown
