"""Call deltas merged into calls: the quirks of ids, indices and names, and properties of any interleaving."""

import json
from itertools import pairwise
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from signalbox.chat.calls.assembly import MOST_CALLS, CallAssembler
from signalbox.chat.calls.repair import repaired
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import ArgumentStatus, CallDelta, RawCall

from tests.support.complexity import growth_of, steps_of

KNOWN = ("search", "search_news", "calc", "edit_existing_file")


class Told(NamedTuple):
    """An assembled call: id, name, arguments."""

    id: str | None
    name: str
    arguments: str


def assemble(*deltas: CallDelta, known: tuple[str, ...] = KNOWN) -> list[Told]:
    """Merge deltas into calls."""
    assembler = CallAssembler(known)
    for delta in deltas:
        assembler.add(delta)
    return [Told(call.id, call.name, call.arguments) for call in assembler.calls()]


def d(
    index: int | None = 0,
    call_id: str | None = None,
    name: str | None = None,
    args: str | None = None,
    at: int | None = None,
) -> CallDelta:
    """Return a delta."""
    return CallDelta(index, call_id, name, args, at)


Q1, Q2 = '{"q":1}', '{"q":2}'


# --- A1: the index is no key ---


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


# --- A2: the index is missing ---


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


# --- A3, A4: header and id ---


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


# --- A5: names ---


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


# --- A15, A17, A18, A19 ---


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


# --- when a call is whole ---


def closed(assembler: CallAssembler) -> list[str]:
    """Return the names of the calls that were completed since the last call of this."""
    return [call.name for call in assembler.closed()]


def test_a_call_is_reported_once_when_its_object_is_complete() -> None:
    """Asked after every delta, `closed` returns the call when its arguments are complete, and never again."""
    assembler = CallAssembler(KNOWN)
    seen = []
    for piece in ('{"q":', '"}"', "}", "", " "):
        assembler.add(d(0, "a", "search", piece))
        seen.append(closed(assembler))
    assert seen == [[], [], ["search"], [], []]


def test_several_calls_are_completed_by_one_read() -> None:
    """All calls that a read completes are returned together."""
    assembler = CallAssembler(KNOWN)
    for delta in (d(0, "a", "search", Q1), d(1, "b", "calc", Q2), d(2, "c", "calc", '{"q"')):
        assembler.add(delta)
    assert closed(assembler) == ["search", "calc"]


def test_a_call_completed_by_the_next_one_is_reported() -> None:
    """A call without an id that is found complete when the next one begins is still returned."""
    assembler = CallAssembler(KNOWN)
    assembler.add(d(0, None, "search", Q1))
    assembler.add(d(0, None, "calc", Q2))
    assert closed(assembler) == ["search", "calc"]
    assert closed(assembler) == []


@pytest.mark.parametrize("text", ['{"q":"}"}', '{"q":"{"}', '{"q":"}}}}"}'])
def test_a18_braces_in_strings_do_not_hide_the_next_call(text: str) -> None:
    """Without ids, a call with braces in its strings is known to be complete (A18)."""
    assert assemble(d(0, None, "search", text), d(0, None, "calc", Q2)) == [(None, "search", text), (None, "calc", Q2)]


@pytest.mark.parametrize("text", ["", "null", "[]", '"{}"', '{"q":', "{}}", "{} x"])
def test_only_objects_are_completed_early(text: str) -> None:
    """Any other value waits for the end of the step."""
    assembler = CallAssembler(KNOWN)
    assembler.add(d(0, "a", "search", text))
    assert closed(assembler) == []


def test_early_parsing_is_limited() -> None:
    """If every delta ends with a brace, not every one is parsed, so the cost stays linear."""
    assembler = CallAssembler(KNOWN)
    for _ in range(100):
        assembler.add(d(0, "a", "search", '{"a":"}'))
        closed(assembler)
        assembler.add(d(0, None, None, '"}"'))
    [call] = assembler.open_calls()
    assert call.tries <= 8


def test_text_is_joined_once() -> None:
    """Ten thousand fragments are joined only when the text is read."""
    assembler = CallAssembler(KNOWN)
    assembler.add(d(0, "a", "search", '{"q":"'))
    for _ in range(10_000):
        assembler.add(d(0, None, None, "x"))
    [call] = assembler.open_calls()
    assert len(call.pieces) == 10_001
    assembler.add(d(0, None, None, '"}'))
    assert assembler.calls()[0].status is ArgumentStatus.OK


# --- any interleaving ---

OBJECTS = st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.integers() | st.none(), max_size=3)


class Plan(NamedTuple):
    """An intended call, and the positions where its text is cut."""

    name: str
    text: str
    cuts: list[int]


PLANS = st.lists(
    st.builds(
        lambda name, value, cuts: Plan(
            name, json.dumps(value), sorted({c % (len(json.dumps(value)) + 1) for c in cuts})
        ),
        st.sampled_from(KNOWN),
        OBJECTS,
        st.lists(st.integers(0, 100), max_size=4),
    ),
    min_size=1,
    max_size=5,
)


def fragments(plan: Plan) -> list[str]:
    """Cut the text of a call as planned."""
    edges = [0, *plan.cuts, len(plan.text)]
    return [plan.text[a:b] for a, b in pairwise(edges)]


@given(PLANS, st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_any_interleaving_by_index_or_id(plans: list[Plan], rng: Random, by_id: bool, repeat: bool) -> None:
    """Calls with interleaved deltas are distinguished by index, or only by id, with repeated names or not."""
    queues = []
    for n, plan in enumerate(plans):
        index = None if by_id else n
        first, *rest = fragments(plan)
        queue = [CallDelta(index, f"id{n}", plan.name, first)]
        name = plan.name if repeat else None
        queue += [CallDelta(index, f"id{n}" if by_id or repeat else None, name, piece) for piece in rest]
        queues.append(queue)
    deltas = [queue.pop(0) for queue in queues]  # headers come in order: it is the order of the calls
    while any(queues):
        deltas.append(rng.choice([q for q in queues if q]).pop(0))
    assert assemble(*deltas) == [(f"id{n}", plan.name, plan.text) for n, plan in enumerate(plans)]


@given(PLANS, st.booleans(), st.booleans())
def test_any_calls_in_a_row_at_one_index(plans: list[Plan], has_index: bool, repeat: bool) -> None:
    """Consecutive calls at index 0, or without an index, are distinguished by their ids."""
    deltas = []
    for n, plan in enumerate(plans):
        for place, piece in enumerate(fragments(plan)):
            head = place == 0
            deltas.append(
                CallDelta(
                    0 if has_index else None,
                    f"id{n}" if head or repeat else None,
                    plan.name if head or repeat else None,
                    piece,
                )
            )
    assert assemble(*deltas) == [(f"id{n}", plan.name, plan.text) for n, plan in enumerate(plans)]


DELTAS = st.builds(
    CallDelta,
    st.none() | st.integers(-1, 2),
    st.none() | st.sampled_from(["a", "b"]),
    st.none() | st.sampled_from([*KNOWN, "x", "_news"]),
    st.none() | st.sampled_from(["{", "}", "{}", '"q"', ":1", "", '{"q":1}', "null"]),
    st.none() | st.integers(0, 2),
)


@given(st.lists(DELTAS, max_size=20))
def test_no_deltas_break_the_assembler(deltas: list[CallDelta]) -> None:
    """With any deltas, only the text of nameless calls is lost, and every call has a name."""
    assembler = CallAssembler(KNOWN)
    for delta in deltas:
        assembler.add(delta)
        assembler.closed()
    calls = assembler.calls()
    assert all(call.name for call in calls)
    kept = sum(len(call.arguments) for call in assembler._calls)
    assert kept == sum(len(delta.arguments or "") for delta in deltas)


ANY_DELTA = st.builds(
    CallDelta,
    index=st.sampled_from([None, 0, 1]),
    id=st.sampled_from([None, None, None, "a", "b"]),
    name=st.sampled_from([None, None, None, "search", "calc"]),
    arguments=st.sampled_from([None, "", '{"q": ', '"x"', "}", "{}", " "]),
    position=st.sampled_from([None, None, 0, 1]),
)


@given(st.lists(ANY_DELTA, max_size=12))
@example(
    [
        CallDelta(None, None, None, "\n"),
        CallDelta(0, arguments='{"q":1}'),
        CallDelta(0),
        CallDelta(0, "a", "search", "{}"),
    ]
)
def test_merging_in_batches_changes_nothing(deltas: list[CallDelta]) -> None:
    """Deltas merged together give the same calls, and the same completed ones, as one by one."""
    together, apart = CallAssembler(KNOWN), CallAssembler(KNOWN)
    together.add_all(deltas)
    for delta in deltas:
        apart.add(delta)
    assert together.calls() == apart.calls()
    assert [call.slot for call in together.closed()] == [call.slot for call in apart.closed()]


@pytest.mark.parametrize("index", [0, None])
def test_deltas_find_their_call_in_constant_time(index: int | None) -> None:
    """Many calls with ids, at one index or without one, take time linear in their number."""

    def work(count: int) -> None:
        assemble(*(d(index, f"call_{place}", "search", "{}") for place in range(count)))

    assert growth_of(work, 100) < 2.3


def test_a_late_id_identifies_its_call() -> None:
    """A late id identifies its call from then on; without an index, the newest call with an id continues."""
    calls = assemble(d(0, None, "search", '{"q":'), d(0, "a"), d(1, "b", "calc", "{}"), d(None, "a", args='"x"}'))
    assert [(call.id, call.arguments) for call in calls] == [("a", '{"q":"x"}'), ("b", "{}")]


@pytest.mark.parametrize(
    ("deltas", "words"),
    [
        ([d(place, f"c{place}", "search", "{}") for place in range(MOST_CALLS + 1)], "1,000 calls"),
        ([d(0, "c", f"part{place:05}") for place in range(200)], "name"),
        ([d(0, "c", "search", "x" * 2**20) for _ in range(5)], "4 MB"),
    ],
)
def test_calls_names_and_arguments_are_limited(deltas: list[CallDelta], words: str) -> None:
    """Too many calls, and too long names or arguments, are an upstream error that is not retried."""
    with pytest.raises(UpstreamError, match=words) as refused:
        assemble(*deltas)
    assert (refused.value.code, refused.value.retryable) == (Code.UPSTREAM_PROTOCOL, False)


def test_concatenated_objects_are_read_a_limited_number_of_times() -> None:
    """Arguments that repeat one object are that object; text after many repetitions is not read."""
    text = '{"q":1}' * 100_000
    steps = steps_of(lambda: repaired(RawCall("c", "search", text, ArgumentStatus.INVALID, None)))
    assert steps < 100_000
    assert [call.arguments for call in repaired(RawCall("c", "search", text, ArgumentStatus.INVALID, None))] == [
        {"q": 1}
    ]
