"""Every family accepts the continuation of a handed step in one attempt: with its reasoning, signatures and ids."""

from typing import Any

import pytest
from signalbox.core.events import LoopName, ToolCalls, ToolResult
from signalbox.core.order.invariants import first_fault
from signalbox.simulator.http.server import BackgroundSimulator

from tests.scenarios.conversation_recovery.cut_runs import FAMILIES
from tests.scenarios.hand_over.conftest import OURS, asking
from tests.support.ask_protocol import Answer, AskClient
from tests.support.running_app import RunningApp

# Families whose answers have opaque reasoning details, which the next request must contain unchanged.
SIGNED = ("openai", "anthropic", "google", "x-ai")
EACH = pytest.mark.parametrize("family", FAMILIES)
LOOPS = pytest.mark.parametrize("loop", ["v2", "legacy"])


def attempts_of(app: RunningApp, answer: Answer) -> list[dict[str, Any]]:
    """Return the requests of a run to its provider, from its trace."""
    return app.client.get(f"/api/runs/{answer.run_id}").json()["attempts"]


def last_request(simulator: BackgroundSimulator) -> list[dict[str, Any]]:
    """Return the messages that the simulator received last."""
    return simulator.state.requests[-1].body["messages"]


@EACH
@LOOPS
def test_a_handed_step_continues_in_one_attempt(
    served: RunningApp, client: AskClient, simulator: BackgroundSimulator, family: str, loop: LoopName
) -> None:
    """One step calls our calculator, our search and the client's clock; its next request has the whole turn."""
    model, headers = f"{family}/sim-parallel", {"x-tool-loop": loop}
    first = client.send(served, asking(model), *OURS, headers=headers)
    assert first_fault(first.events) is None
    assert (first.done.status, first.done.loop) == ("complete", loop)
    assert [call.name for call in first.handed] == ["wall_clock"]
    assert sorted(e.name for e in first.events if isinstance(e, ToolResult)) == ["calculate", "search_web"]

    second = client.send(served, asking(model, *first.copy("09:41")), *OURS, headers=headers)
    assert first_fault(second.events) is None
    assert (second.done.status, second.done.handed or []) == ("complete", [])
    assert not any(isinstance(event, ToolCalls) for event in second.events)
    [attempt] = attempts_of(served, second)
    # Only the provider that signed Gemini's reasoning accepts it.
    assert (attempt["error"], attempt["changes"]) == (None, ["provider google-ai-studio"] if family == "google" else [])

    _, turn, *results = last_request(simulator)
    assert [one["role"] for one in results] == ["tool"] * 3
    assert {call["function"]["name"] for call in turn["tool_calls"]} == {"wall_clock", *OURS}
    assert {one["tool_call_id"] for one in results} == {call["id"] for call in turn["tool_calls"]}
    assert "09:41" in next(one["content"] for one in results if one.get("name") == "wall_clock")
    if family in SIGNED:
        assert turn["reasoning_details"]


@LOOPS
def test_a_loop_of_several_handed_steps_continues(
    served: RunningApp, client: AskClient, simulator: BackgroundSimulator, loop: LoopName
) -> None:
    """Two continuations later the request has both handed turns, each with its own reasoning."""
    model, headers = "anthropic/sim-parallel", {"x-tool-loop": loop}
    first = client.send(served, asking(model), *OURS, headers=headers)
    copies = first.copy("09:41")
    other = client.send(served, asking(model), *OURS, headers=headers)
    copies += other.copy("09:42")
    done = client.send(served, asking(model, *copies), *OURS, headers=headers)
    [attempt] = attempts_of(served, done)
    assert (done.done.status, attempt["changes"]) == ("complete", [])
    turns = [one for one in last_request(simulator) if one["role"] == "assistant"]
    assert [bool(turn["reasoning_details"]) for turn in turns] == [True, True]
    ids = [call["id"] for turn in turns for call in turn["tool_calls"]]
    assert len(set(ids)) == len(ids) == 6
