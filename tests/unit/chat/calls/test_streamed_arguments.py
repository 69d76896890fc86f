"""What is shown of a call's arguments while they arrive: never more than what stays."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from signalbox.chat.calls.streamed_arguments import SafePrefix

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=3)


def shown(*pieces: str) -> str:
    """Return what is shown of these pieces."""
    prefix = SafePrefix()
    return "".join(map(prefix.feed, pieces))


def cut(text: str, cuts: list[int]) -> list[str]:
    """Cut a text at these places."""
    places = sorted({0, len(text), *(place % (len(text) + 1) for place in cuts)})
    return [text[one:other] for one, other in pairwise(places)]


@given(OBJECTS, st.text(alphabet=' \n\t{}[]":,x\\', max_size=10), st.lists(st.integers(min_value=0), max_size=12))
def test_an_object_is_shown_whole_and_nothing_behind_it(value: dict[str, object], tail: str, cuts: list[int]) -> None:
    """However it is cut, and whatever follows: braces and quotes in strings end nothing."""
    text = json.encode(value).decode()
    assert shown(*cut(f" \n{text}{tail}", cuts)) == text


@given(OBJECTS, st.lists(st.integers(min_value=0), max_size=12))
def test_what_is_shown_is_always_a_prefix(value: dict[str, object], cuts: list[int]) -> None:
    """After each piece."""
    text = json.encode(value).decode()
    prefix, so_far = SafePrefix(), ""
    for piece in cut(text, cuts):
        so_far += prefix.feed(piece)
        assert text.startswith(so_far)


@pytest.mark.parametrize(
    "pieces",
    [
        ["{}"],
        ["{", "}"],
        [" { ", "\n} ", '{"a": 1}'],
        ["{}", '{"a": 1}'],
        ["null"],
        ['"', '{\\"a\\": 1}"'],
        ["[1]"],
        ["", " "],
    ],
)
def test_what_may_not_stay_is_not_shown(pieces: list[str]) -> None:
    """A leading `{}` may be an artefact; what is no object is repaired, or is no call."""
    assert shown(*pieces) == ""
