"""For any run, a client of assistant-ui has the same text, reasoning, calls and results as a client of v1.1."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from signalbox.core.conversations import Answer, Node
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Failure,
    Reasoning,
    Stamped,
    Success,
    ToolCalls,
    ToolResult,
    Warning,
)
from signalbox.core.handed_calls import handed_id
from signalbox.encoders.assistant_ui.branch import branch_of
from signalbox.encoders.v1_whole import WholeV1

from tests.support.assistant_client import RECORD, RUN, lines_of, state_after
from tests.support.run_events import object_in, random_run

PIECES = st.lists(st.text(alphabet='ab\n "\\é€', min_size=1, max_size=4), max_size=4)
ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), st.integers(-(2**53), 2**53) | st.text(max_size=3), max_size=2)
RESULTS = st.builds(lambda value: Success(True, value), ARGUMENTS) | st.just(Failure(False, "No.", "TOOL_FAILED"))


@st.composite
def steps(draw: st.DrawFn, step: int, *, is_last: bool) -> list[AnyEvent]:
    """Draw the events of one step: reasoning, text, calls whose arguments arrive interleaved, results in any order."""
    events: list[AnyEvent] = [Reasoning(piece, step) for piece in draw(PIECES)]
    texts = draw(PIECES)
    if texts and step > 1:
        events.append(Content("\n\n"))
    events += [Content(piece) for piece in texts]
    calls = [
        Call(f"c{step}{place}", f"tool{place}", json.dumps(draw(ARGUMENTS)), "other", "secondary")
        for place in range(draw(st.integers(0, 3)))
    ]
    streamed = [call for call in calls if draw(st.booleans())]
    pieces = {call.id: _halves(call.arguments) for call in streamed}
    for call in draw(st.permutations([*streamed, *streamed])):
        events.append(ArgumentsDelta(call.id, call.name, pieces[call.id].pop(0), step))
    if calls:
        events.append(ToolCalls(calls, step))
    answered = calls if not is_last else draw(st.permutations(calls))[: draw(st.integers(0, len(calls)))]
    for call in draw(st.permutations(answered)):
        events.append(ToolResult(call.id, call.name, draw(RESULTS), "other", "secondary", step=step))
        if draw(st.booleans()):
            events.append(Warning("Slow.", step=step))
    if is_last:
        handed = [call.id for call in calls if call not in answered]
        events.append(Done(True, "complete", handed=handed) if handed else Done(True, "complete"))
    return events


def _halves(text: str) -> list[str]:
    return [text[: len(text) // 2], text[len(text) // 2 :]]


@st.composite
def runs(draw: st.DrawFn) -> list[Stamped]:
    """Draw the events of a run."""
    count = draw(st.integers(1, 3))
    events = [event for step in range(1, count + 1) for event in draw(steps(step, is_last=step == count))]
    return [Stamped(seq, seq, event) for seq, event in enumerate(events, 1)]


@given(runs() | st.integers(0, 100_000).map(random_run))
def test_the_client_has_what_v1_has(events: list[Stamped]) -> None:
    """Text, reasoning, calls, results and warnings are equal; line breaks between two parts are not compared."""
    whole = WholeV1(RECORD)
    whole.feed(events)
    expected = json.loads(whole.answer()[1])
    state = state_after(lines_of(events))
    messages = state["messages"]
    assert _joined(messages, "text") == _flat(expected["text"])
    assert _joined(messages, "thinking") == _flat(expected["reasoning"])
    shown_calls = {call["id"]: call for message in messages for call in message.get("tool_calls", ())}
    results = {message["tool_call_id"]: message for message in messages if message["type"] == "tool"}
    assert len(results) == sum(message["type"] == "tool" for message in messages)
    for call_id in [one for one in shown_calls if "_lost" in one]:  # begun by an attempt that failed
        assert (shown_calls.pop(call_id)["args"], results.pop(call_id)["status"]) == ({}, "error")
    for call in expected["calls"]:
        one = shown_calls.pop(handed_id(RUN, call["id"]))
        arguments = object_in(call["arguments"])
        assert (one["name"], one["args"]) == (call["name"], arguments or {})
        text = one.get("partial_json", "")
        assert text == call["arguments"] if arguments is None else object_in(text or call["arguments"]) == arguments
    assert not shown_calls
    for call in expected["calls"]:
        shown = results.pop(handed_id(RUN, call["id"]), None)
        if "result" not in call:
            assert shown is None
            assert call["id"] in expected["handed"]
            continue
        assert shown is not None
        assert shown["status"] == ("success" if call["result"]["success"] else "error")
        if call["result"]["success"]:
            assert json.loads(shown["content"]) == call["result"]["result"]
    assert not results
    assert len(state["warnings"]) == len(expected["warnings"])


@given(runs() | st.integers(0, 100_000).map(random_run))
def test_a_stored_run_is_the_same_state(events: list[Stamped]) -> None:
    """The branch that a later stream begins with has the messages that the stream of the run gave."""
    node = Node(RUN, "q", "assistant", run=Answer("complete", None, "openai/sim", "v2"))
    branch = branch_of([node], {}, {RUN: events})
    assert branch.messages == state_after(lines_of(events))["messages"]


def _joined(messages: list[dict[str, Any]], kind: str) -> str:
    parts = (part for message in messages if message["type"] == "ai" for part in message["content"])
    return _flat("".join(part[kind] for part in parts if part["type"] == kind))


def _flat(text: str) -> str:
    return text.replace("\n", "")
