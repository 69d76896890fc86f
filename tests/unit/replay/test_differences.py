"""Comparison of two outcomes: the kinds of difference, and which are expected."""

from dataclasses import replace
from typing import Any

import pytest
from msgspec import UNSET, UnsetType
from signalbox.core.events import (
    AnyEvent,
    Call,
    Content,
    Done,
    Preview,
    Stamped,
    Success,
    ToolCalls,
    ToolResult,
)
from signalbox.replay.differences import KINDS, differences, format_cost
from signalbox.replay.outcome import AttemptOutcome, CallOutcome, Outcome, outcome_of
from signalbox.replay.reasons import REASONS, explain, interruption_reasons, missing_history_reasons
from signalbox.replay.report import replay_lines

FOUND = CallOutcome("search_web", {"query": "tides"}, 1, success=True, result={"n": 1}, ran=True)
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
    tried=(AttemptOutcome(1, streamed=False), AttemptOutcome(2, streamed=False)),
    cost=0.001,
)
V2 = replace(ONE, loop="v2", tried=(AttemptOutcome(1), AttemptOutcome(2)))

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


def test_each_reason_is_printed_once() -> None:
    """A report prints a reason once, with the number and kinds of differences that it explains."""
    again = replace(V2, text="Else.", reasoning="Otherwise.", cost=0.5)
    lines = [*replay_lines(ONE, again, explain(differences(ONE, again), ONE, again, by_chance=True), [])]
    reason = "The model was called again, so its words and calls may differ by chance."
    assert [line for line in lines if reason in line] == [f"  3 (text, reasoning, cost): {reason}"]


def test_previews_are_no_difference() -> None:
    """A run with previews has the outcome of a run without, and a fault in their order is a difference."""
    preview = Preview("a", "create_file", "/path", "x", 1)
    result = ToolResult("a", "create_file", Success(True, None), "other", "secondary")

    def outcome(*first: AnyEvent, previewed: dict[str, int] | UnsetType = UNSET) -> Outcome:
        call = Call("a", "create_file", '{"path":"x"}', "other", "secondary", previewed=previewed)
        events = [*first, ToolCalls([call]), result, Content("Done."), Done(True, "complete")]
        stamped = [Stamped(seq, 0, event) for seq, event in enumerate(events, 1)]
        return outcome_of(stamped, (), "v2", "openai/sim")

    assert differences(outcome(), outcome(preview, previewed={"/path": 1})) == []
    assert [one.kind for one in differences(outcome(), outcome(preview, preview, previewed={"/path": 1}))] == [
        "contract"
    ]


def test_equal_outcomes_do_not_differ() -> None:
    """Another loop, model, duration or form of the requests is not a difference."""
    other = replace(V2, model="x/y", milliseconds=9)
    assert differences(ONE, other) == []


@pytest.mark.parametrize(("kind", "change", "first", "second"), CHANGES)
def test_kinds_of_difference(kind: str, change: dict[str, Any], first: str, second: str) -> None:
    """One change gives one difference of its kind, with both values and without a reason."""
    [found] = differences(ONE, replace(V2, **change))
    assert (found.kind, found.why) == (kind, None)
    assert first in found.first
    assert second in found.second


def test_every_kind_has_an_example() -> None:
    """The table has an example of each kind."""
    assert {kind for kind, *_ in CHANGES} == set(KINDS)


def test_contract_violations_are_never_expected() -> None:
    """No reason explains a contract violation, even if both streams have the same one."""
    broken = (replace(ONE, fault="a call has two results"), replace(V2, fault="a call has two results"))
    [found] = explain(differences(*broken), *broken, by_chance=True)
    assert (found.kind, found.is_expected) == ("contract", False)
    assert not any("contract" in reason.kinds for reason in REASONS)
    assert "contract" not in {**interruption_reasons(replace(ONE, status="cancelled")), **missing_history_reasons()}


def test_chance_explains_only_answers() -> None:
    """With a real model, other text and calls are expected, but not another ending or code."""
    v2 = replace(V2, text="Otherwise.", calls=(), order=(), status="error", code="UPSTREAM_ERROR")
    found = {one.kind: one.is_expected for one in explain(differences(ONE, v2), ONE, v2, by_chance=True)}
    assert found == {"ending": False, "code": False, "calls": True, "text": True, "order": True}


def test_cost_needs_another_expected_difference() -> None:
    """Another cost is expected only together with other differences that are all expected."""
    dearer = replace(V2, cost=0.002)
    assert [one.is_expected for one in explain(differences(ONE, dearer), ONE, dearer)] == [False]
    reworded = replace(dearer, text="Else.")
    assert not any(one.is_expected for one in explain(differences(ONE, reworded), ONE, reworded))
    moved = replace(dearer, order=("call 1", "result 1", "start 1"))
    assert all(one.is_expected for one in explain(differences(ONE, moved), ONE, moved))


def test_replays_of_interrupted_runs() -> None:
    """Differences are expected if the original run was stopped from outside, but not if its stream broke off."""
    assert interruption_reasons(replace(ONE, status="cancelled"))
    assert interruption_reasons(replace(ONE, status="interrupted", code="SERVER_CRASH"))
    assert not interruption_reasons(replace(ONE, status="interrupted", code="STREAM_CUT"))


def test_journals_without_done() -> None:
    """A journal without `done` gives an unfinished outcome with a fault."""
    cut = outcome_of([Stamped(1, 5, Content("Hi"))], [], "v2", "m")
    assert (cut.status, cut.text, cut.fault) == ("unfinished", "Hi", "the stream ends without done")
    whole = [Stamped(1, 5, Content("Hi")), Stamped(2, 9, Done(True, "complete"))]
    assert (outcome_of(whole, [], "v2", "m").milliseconds, outcome_of(whole, [], "v2", "m").fault) == (4, None)


@pytest.mark.parametrize(("cost", "words"), [(None, "unknown"), (0.0, "$0"), (1.5, "$1.5"), (1.2e-7, "$0.00000012")])
def test_format_cost(cost: float | None, words: str) -> None:
    """Amounts have no trailing zeros, and small ones no exponent."""
    assert format_cost(cost) == words
