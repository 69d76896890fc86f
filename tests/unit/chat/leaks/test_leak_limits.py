"""What the leak filter holds back and stores is limited, and its cost is linear (quirk A11)."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signalbox.chat.leaks import LeakFilter, parse_leak
from signalbox.chat.leaks.filter import LONGEST_OPENER
from signalbox.chat.leaks.leak import MAX_LENGTH

from tests.unit.chat.leaks.leak_samples import CALL, CALLED, SCHEMAS, found_in, parse_cut


@pytest.mark.parametrize("step", [1, 7, 10_000, 1_000_000])
def test_a11_an_endless_leak_is_removed_and_not_stored(step: int) -> None:
    """Beyond a limit nothing is stored and no call is made; after its end, the text continues."""
    text = f"a <tool_call>search<arg_key>q</arg_key><arg_value>{'x' * MAX_LENGTH}</arg_value></tool_call> b {CALLED}"
    leaks = LeakFilter(SCHEMAS)
    shown = "".join([leaks.feed(text[at : at + step]) for at in range(0, len(text), step)]) + leaks.close()
    assert (shown, [call.value for call in leaks.leaked], leaks.has_markup) == ("a b ", [{"q": "rain"}], True)


@pytest.mark.parametrize("opener", ["<function=search><parameter=q>", '<tool_call>{"name": "'])
def test_a11_a_long_leak_takes_limited_memory(opener: str) -> None:
    """Two megabytes of an unclosed leak leave less than twice the limit in memory."""
    leaks = LeakFilter(SCHEMAS)
    assert leaks.feed(opener) == ""
    tracemalloc.start()
    try:
        for place in range(200):
            assert leaks.feed(f"{place % 10}" * 10_000) == ""
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2 * MAX_LENGTH
    assert (leaks.close(), leaks.leaked, leaks.has_markup) == ("", [], True)


def test_a11_a_long_leak_below_the_limit_is_found() -> None:
    """The limit allows long calls."""
    long = "x" * (MAX_LENGTH - 200)
    assert found_in(parse_cut(f"<function=search><parameter=q>{long}</parameter></function>")) == [
        ("search", {"q": long})
    ]


ORDINARY = [
    "<",
    "[",
    "a < b",
    "<div>",
    "List<T>",
    "[T",
    "[TOOL_C",
    "<tool_",
    "<|",
    "<｜tool▁",
    "< ",
    "</",
    "`",
    "```",
    "~~~",
]


ORDINARY += ["\n", " ", "x", "\\", "<function", "<invoke", "DSML", "<minimax:", "[link](url)", "a[0]", "1. "]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(ORDINARY), max_size=25))
def test_a11_at_most_an_opener_is_held_back(pieces: list[str]) -> None:
    """After each letter, everything except a possible opener has been returned in order."""
    text = "".join(pieces)
    assert "".join(LeakFilter(SCHEMAS).feed_all(pieces)) == "".join(map(LeakFilter(SCHEMAS).feed, [text]))
    leaks, shown = LeakFilter(SCHEMAS), ""
    for place, letter in enumerate(text):
        shown += leaks.feed(letter)
        assert len(shown) + leaks.held == place + 1
        assert leaks.held < LONGEST_OPENER
        assert leaks.held == 0 or text[len(shown)] in "<["
    assert shown + leaks.close() == text
    assert not leaks.has_markup


MARKS = [
    "<tool_call>",
    "</tool_call>",
    "<function=search>",
    "</function>",
    "<parameter=q>",
    "</parameter>",
    "search",
    "\n",
]


MARKS += [
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "[TOOL_CALLS]",
    "{",
    '"name":',
    '"search"',
    "}",
    "`",
    " ",
]


MARKS += [
    "<｜DSML｜tool_calls>",
    '<｜DSML｜invoke name="search">',
    "</｜DSML｜invoke>",
    CALL,
    "<|tool_sep|>",
    "```",
    "\\",
    "x",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(MARKS), max_size=16), st.data())
def test_a11_no_split_of_any_marks_changes_the_result(pieces: list[str], data: st.DataObject) -> None:
    """Any sequence of marks gives the same text and calls: whole, letter by letter, or cut anywhere."""
    text = "".join(pieces)
    cut = data.draw(st.integers(0, len(text)))
    whole = parse_cut(text)
    assert parse_cut(*text) == whole
    assert parse_cut(text[:cut], text[cut:]) == whole
    if not whole.has_markup:
        assert whole.text == text


@pytest.mark.parametrize(
    "unit", ["<", "<tool_call>", "<tool_call>\n", "<function_calls><invoke name=", "```\n", "[TOOL_CALLS]a"]
)
def test_a11_the_cost_is_linear(unit: str) -> None:
    """A megabyte of openers without calls is processed in linear time."""
    text = unit * (1_000_000 // len(unit) if unit == "<" else 200_000 // len(unit))
    assert parse_leak(text, SCHEMAS).text == text
    assert parse_cut(*text[:20_000]).text == text[:20_000]
