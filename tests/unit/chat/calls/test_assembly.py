"""Call deltas merged into calls: the quirks of ids, indices and names, and properties of any interleaving."""

import pytest
from signalbox.chat.calls.assembly import CallAssembler
from signalbox.core.parts import CallDelta

from tests.unit.chat.calls.call_deltas import KNOWN, Q1, Q2, assemble, d


def test_a1_two_ids_at_one_index_whole() -> None:
    """Two complete calls at index 0 are two calls (A1)."""
    assert assemble(d(0, "a", "search", Q1), d(0, "b", "calc", Q2)) == [("a", "search", Q1), ("b", "calc", Q2)]


def test_a1_two_ids_at_one_index_in_fragments() -> None:
    """Fragments without an id belong to the newest call at their index (A1)."""
    assert assemble(
        d(0, "a", "search"), d(0, None, None, '{"q"'), d(0, None, None, ":1}"),
        d(0, "b", "search"), d(0, None, None, '{"q"'), d(0, None, None, ":2}"),
    ) == [("a", "search", Q1), ("b", "search", Q2)]  # fmt: skip


def test_a1_the_same_name_twice() -> None:
    """Two calls of one tool with equal arguments and different ids are two calls (A1)."""
    assert assemble(d(0, "a", "search", Q1), d(0, "b", "search", Q1)) == [("a", "search", Q1), ("b", "search", Q1)]


def test_a1_without_ids_a_name_after_a_complete_call_opens_the_next() -> None:
    """A name without an id after complete arguments begins another call (A1 b)."""
    assert assemble(d(0, None, "search", Q1), d(0, None, "search", Q2)) == [
        (None, "search", Q1),
        (None, "search", Q2),
    ]
    assert assemble(d(0, None, "search", Q1), d(0, None, "calc"), d(0, None, None, Q2)) == [
        (None, "search", Q1),
        (None, "calc", Q2),
    ]


def test_a1_a_fragment_of_an_earlier_id() -> None:
    """A fragment with the id of an earlier call at its index belongs to that call."""
    assert assemble(
        d(0, "a", "search", '{"q"'), d(0, "b", "calc", '{"q"'), d(0, "a", None, ":1}"), d(0, "b", None, ":2}")
    ) == [("a", "search", Q1), ("b", "calc", Q2)]


def test_a2_no_index_one_call() -> None:
    """Fragments without index and id belong to the only open call (A2)."""
    assert assemble(d(None, "a", "search"), d(None, None, None, '{"q"'), d(None, None, None, ":1}")) == [
        ("a", "search", Q1)
    ]


def test_a2_no_index_by_id() -> None:
    """Without an index the id decides (A2)."""
    assert assemble(
        d(None, "a", "search", '{"q"'),
        d(None, "b", "calc", '{"q"'),
        d(None, "a", None, ":1}"),
        d(None, "b", None, ":2}"),
    ) == [("a", "search", Q1), ("b", "calc", Q2)]


def test_a2_no_index_no_id_by_position() -> None:
    """Without index and id, the position in the delta's list decides (A2)."""
    heads = [d(None, "a", "search", '{"q"', 0), d(None, "b", "calc", '{"q"', 1)]
    tails = [d(None, None, None, ":1}", 0), d(None, None, None, ":2}", 1)]
    assert assemble(*heads, *tails) == [("a", "search", Q1), ("b", "calc", Q2)]


def test_a2_several_whole_calls_in_one_list() -> None:
    """Mistral lists complete calls without an index (A2)."""
    assert assemble(d(None, "a", "search", Q1, 0), d(None, "b", "calc", Q2, 1)) == [
        ("a", "search", Q1),
        ("b", "calc", Q2),
    ]


def test_a2_no_index_no_id_but_names() -> None:
    """With only names, a name after a complete call begins the next call (A2)."""
    assert assemble(d(None, None, "search", Q1), d(None, None, "search", Q2)) == [
        (None, "search", Q1),
        (None, "search", Q2),
    ]


def test_a2_the_index_comes_later() -> None:
    """A missing index followed by an explicit one is one call (A2)."""
    assert assemble(d(None, "a", "search", '{"q"'), d(0, None, None, ":1}")) == [("a", "search", Q1)]
    assert assemble(d(None, "a", "search", '{"q"'), d(0, "a", None, ":1}"), d(1, "b", "calc", Q2)) == [
        ("a", "search", Q1),
        ("b", "calc", Q2),
    ]


@pytest.mark.parametrize("index", [-1, 3])
def test_a2_strange_indices(index: int) -> None:
    """Negative indices, and indices that do not start at 0, are valid."""
    assert assemble(d(index, "a", "search", '{"q"'), d(index, None, None, ":1}")) == [("a", "search", Q1)]


def test_a3_header_and_first_arguments_in_one_chunk() -> None:
    """Two entries for one index in the first chunk are one call (A3)."""
    assert assemble(d(0, "a", "search", "", 0), d(0, None, None, '{"q"', 1), d(0, None, None, ":1}")) == [
        ("a", "search", Q1)
    ]


@pytest.mark.parametrize("again", ["a", None])
def test_a4_an_id_is_set_once(again: str | None) -> None:
    """An id that is sent in every chunk is not concatenated (A4)."""
    assert assemble(d(0, "a", "search", '{"q"'), d(0, again, None, ":1"), d(0, again, None, "}")) == [
        ("a", "search", Q1)
    ]


def test_a4_a_late_id() -> None:
    """An id in the third chunk belongs to the call that has none yet (A4)."""
    assert assemble(d(0, None, "search"), d(0, None, None, '{"q"'), d(0, "z", None, ":1}")) == [("z", "search", Q1)]


def test_a4_no_id_at_all() -> None:
    """A call without an id is a call; its id is generated when it is announced (A4)."""
    assert assemble(d(0, None, "search", Q1)) == [(None, "search", Q1)]


@pytest.mark.parametrize(
    ("pieces", "name"),
    [
        (["search", "search", "search"], "search"),
        (["search", None, None], "search"),
        (["edit_ex", "isting_file", None], "edit_existing_file"),
        (["edit_existing_file", "isting_file", None], "edit_existing_file"),
        (["edit_ex", "edit_existing_file", None], "edit_existing_file"),
        (["search", "_news", None], "search_news"),
        (["search_news", "search_news", None], "search_news"),
        (["calc", "_ulate", None], "calc"),
    ],
)
def test_a5_names_whole_resent_or_split(pieces: list[str | None], name: str) -> None:
    """Repeated names are not doubled, and pieces are joined; the offered tools decide which is which (A5)."""
    fragments = ['{"q"', ":1", "}"]
    deltas = [d(0, "a" if n == 0 else None, piece, fragments[n]) for n, piece in enumerate(pieces)]
    assert assemble(*deltas) == [("a", name, Q1)]


def test_a5_unknown_names_resent_or_split() -> None:
    """Without offered tools, a repeated name is one name, and other pieces are joined (A5)."""
    assert assemble(d(0, "a", "foo", "{"), d(0, None, "foo", "}"), known=()) == [("a", "foo", "{}")]
    assert assemble(d(0, "a", "fo", "{"), d(0, None, "o", "}"), known=("bar",)) == [("a", "foo", "{}")]


def test_a5_a_name_repeated_after_a_complete_call_opens_none() -> None:
    """A last chunk with only the name again is not a second call (A5)."""
    assert assemble(d(0, "a", "search", Q1), d(0, None, "search", "")) == [("a", "search", Q1)]
    assert assemble(d(0, "a", "search", Q1), d(0, "a", "search", "")) == [("a", "search", Q1)]


def test_a15_one_id_at_two_indices() -> None:
    """One id at two indices is two calls (A15)."""
    assert assemble(d(0, "call_0", "search", Q1), d(1, "call_0", "calc", Q2)) == [
        ("call_0", "search", Q1),
        ("call_0", "calc", Q2),
    ]


def test_a17_a_nameless_entry_joins_or_is_dropped() -> None:
    """An entry without a name continues its call; a call that never gets a name is dropped (A17)."""
    assert assemble(d(0, "a", "search", ""), d(0, None, None, Q1)) == [("a", "search", Q1)]
    assert assemble(d(0, "a", None, Q1)) == []
    assert assemble(d(0, "a", "search", Q1), d(1, "b", None, Q2)) == [("a", "search", Q1)]


def test_a17_arguments_before_the_name() -> None:
    """A name after the arguments is the name of their call (A17)."""
    assert assemble(d(0, "a", None, Q1), d(0, None, "search")) == [("a", "search", Q1)]


@pytest.mark.parametrize("text", ['{"q":"}"}', '{"q":"{"}', '{"q":"\\"}{"}', '{"q":"{{{"}'])
def test_a18_braces_in_strings(text: str) -> None:
    """Braces in strings do not begin or end an object, however the text is cut (A18)."""
    for at in range(1, len(text)):
        deltas = [d(0, "a", "search", text[:at]), d(0, None, None, text[at:])]
        assert assemble(*deltas) == [("a", "search", text)]


def test_a19_a_function_call_is_one_call() -> None:
    """Legacy deltas have no id, and index 0 (A19)."""
    assert assemble(d(0, None, "search", '{"q"'), d(0, None, None, ":1}")) == [(None, "search", Q1)]


def test_whole_arguments_replace_the_pieces() -> None:
    """Arguments that a finished item states again count instead of the pieces, also if those were complete."""
    whole = CallDelta(0, arguments=Q2, whole=True)
    assert assemble(d(0, "a", "search", Q1), whole) == [("a", "search", Q2)]
    assert assemble(d(0, "a", "search", '{"q"'), whole, d(1, "b", "calc", Q1)) == [
        ("a", "search", Q2),
        ("b", "calc", Q1),
    ]
    assembler = CallAssembler(KNOWN)
    assembler.add_all([d(0, "a", "search"), d(0, None, None, Q1), whole])
    assert [call.value for call in assembler.closed()] == [{"q": 2}]


def test_whole_arguments_are_not_previewed() -> None:
    """The preview has the pieces; text that was shown cannot be taken back."""
    shown: list[str] = []
    assembler = CallAssembler(KNOWN, on_arguments=lambda _, piece: shown.append(piece))
    assembler.add_all([d(0, "a", "search"), d(0, None, None, Q1), CallDelta(0, arguments=Q2, whole=True)])
    assert shown == [Q1]
