"""Properties of call assembly for any deltas: no mixture, bounded cost, limits."""

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
from tests.unit.chat.calls.call_deltas import KNOWN, assemble, d

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
