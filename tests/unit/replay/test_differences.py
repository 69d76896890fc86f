"""Two outcomes compared: each kind of difference is found, named and shown."""

from dataclasses import replace
from typing import Any

import pytest
from signalbox.core.events import Content, Done, Stamped
from signalbox.replay.differences import KINDS, differences, money
from signalbox.replay.outcome import Called, Outcome, Tried, outcome_of
from signalbox.replay.reasons import REASONS, explained, was_stopped, was_torn
from signalbox.replay.report import replay_lines

FOUND = Called("search_web", {"query": "tides"}, 1, success=True, result={"n": 1}, ran=True)
ONE = Outcome(
    loop="legacy",
    model="openai/sim",
    status="complete",
    code=None,
    steps=2,
    calls=(FOUND,),
    warnings=(),
    text="The moon pulls.",
    reasoning="I look.",
    order=("call 1", "start 1", "result 1"),
    tried=(Tried(1, streamed=False), Tried(2, streamed=False)),
    cost=0.001,
)
V2 = replace(ONE, loop="v2", tried=(Tried(1), Tried(2)))

CHANGES: list[tuple[str, dict[str, Any], str, str]] = [
    ("ending", {"status": "error"}, "complete", "error"),
    ("code", {"code": "LENGTH"}, "none", "LENGTH"),
    ("steps", {"steps": 3}, "2", "3"),
    ("warnings", {"warnings": ("TOOL_CLAMP",)}, "none", "TOOL_CLAMP"),
    ("order", {"order": ("call 1",)}, "call 1, start 1, result 1", "call 1"),
    ("cost", {"cost": None}, "$0.001", "unknown"),
    ("calls", {"calls": ()}, '1. search_web {"query":"tides"}', "0 in all"),
    ("calls", {"calls": (FOUND, FOUND)}, "1 in all", '2. search_web {"query":"tides"}'),
    ("results", {"calls": (replace(FOUND, cached=True),)}, "ok", "cached"),
    ("results", {"calls": (replace(FOUND, result={"n": 2}),)}, '{"n":1}', '{"n":2}'),
    ("results", {"calls": (replace(FOUND, success=False, code="TIMEOUT"),)}, "ok", "TIMEOUT"),
    ("text", {"text": "The moon pushes."}, '15 characters, from 11: "The moon pulls."', "from 11"),
    ("text", {"text": ""}, "15 characters", "none"),
    ("reasoning", {"reasoning": "I look. Again."}, "7 characters, from 7", "14 characters, from 7"),
    ("contract", {"fault": "done is missing"}, "sound", "done is missing"),
]


def test_a_reason_is_told_once() -> None:
    """However many differences it explains, with their number and kinds."""
    again = replace(V2, text="Else.", reasoning="Otherwise.", cost=0.5)
    lines = [*replay_lines(ONE, again, explained(differences(ONE, again), ONE, again, by_chance=True), [])]
    reason = "The model was asked anew: its words and calls need not be the same twice."
    assert [line for line in lines if reason in line] == [f"  3 (text, reasoning, cost): {reason}"]


def test_equal_outcomes_do_not_differ() -> None:
    """Loop, model, requests and time are no difference."""
    other = replace(V2, model="x/y", milliseconds=9)
    assert differences(ONE, other) == []


@pytest.mark.parametrize(("kind", "change", "first", "second"), CHANGES)
def test_each_difference_is_named_and_shown(kind: str, change: dict[str, Any], first: str, second: str) -> None:
    """One change is one difference of its kind, without a reason."""
    [found] = differences(ONE, replace(V2, **change))
    assert (found.kind, found.why) == (kind, None)
    assert first in found.first
    assert second in found.second


def test_every_kind_has_its_example() -> None:
    """No kind is left untested."""
    assert {kind for kind, *_ in CHANGES} == set(KINDS)


def test_a_stream_that_breaks_the_contract_is_never_expected() -> None:
    """Not where both break it alike, not where a real model answers, and by no reason that there is."""
    broken = (replace(ONE, fault="a call has two results"), replace(V2, fault="a call has two results"))
    [found] = explained(differences(*broken), *broken, by_chance=True)
    assert (found.kind, found.is_expected) == ("contract", False)
    assert not any("contract" in reason.kinds for reason in REASONS)
    assert "contract" not in {**was_stopped(replace(ONE, status="cancelled")), **was_torn()}


def test_chance_explains_words_and_never_endings() -> None:
    """A real model words and calls otherwise each time; that it fails on one loop alone must be looked at."""
    v2 = replace(V2, text="Otherwise.", calls=(), order=(), status="error", code="UPSTREAM_ERROR")
    found = {one.kind: one.is_expected for one in explained(differences(ONE, v2), ONE, v2, by_chance=True)}
    assert found == {"ending": False, "code": False, "calls": True, "text": True, "order": True}


def test_cost_is_expected_only_where_the_requests_differ_as_expected() -> None:
    """Alone it is a question, and beside something unexpected too."""
    dearer = replace(V2, cost=0.002)
    assert [one.is_expected for one in explained(differences(ONE, dearer), ONE, dearer)] == [False]
    beside = replace(dearer, text="Else.")
    assert not any(one.is_expected for one in explained(differences(ONE, beside), ONE, beside))
    moved = replace(dearer, order=("call 1", "result 1", "start 1"))
    assert all(one.is_expected for one in explained(differences(ONE, moved), ONE, moved))


def test_a_run_that_was_stopped_explains_its_replay() -> None:
    """The replay goes on to its end; a run that ended by itself explains nothing."""
    assert was_stopped(replace(ONE, status="cancelled"))
    assert was_stopped(replace(ONE, status="interrupted", code="SERVER_CRASH"))
    assert not was_stopped(replace(ONE, status="interrupted", code="STREAM_CUT"))


def test_a_journal_without_an_end_is_unfinished() -> None:
    """It can be read all the same; its stream is at fault."""
    cut = outcome_of([Stamped(1, 5, Content("Hi"))], [], "v2", "m")
    assert (cut.status, cut.text, cut.fault) == ("unfinished", "Hi", "the stream ends without done")
    whole = [Stamped(1, 5, Content("Hi")), Stamped(2, 9, Done(True, "complete"))]
    assert (outcome_of(whole, [], "v2", "m").milliseconds, outcome_of(whole, [], "v2", "m").fault) == (4, None)


@pytest.mark.parametrize(("cost", "words"), [(None, "unknown"), (0.0, "$0"), (1.5, "$1.5"), (1.2e-7, "$0.00000012")])
def test_money_in_words(cost: float | None, words: str) -> None:
    """Small amounts keep their digits."""
    assert money(cost) == words
