"""Tool loops over Anthropic's Messages API: calls, results, thinking that comes back unchanged, the last step."""

import json
from typing import Any

import pytest
from signalbox.wire.anthropic import dialect

from tests.scenarios.native.native_runs import LOOPS, Body, NativeAsker

BUDGET, ADAPTIVE, REDACTED = "claude-sonnet-4-5-20250929", "claude-opus-4-8", "sim-redacted"
STEPS = "Search for replay, then calculate 2+2"
THINK = {"effort": "low"}
BOTH_LOOPS = pytest.mark.parametrize("loop", LOOPS)


def blocks_of(body: Body, kind: str) -> list[Body]:
    """Return the blocks of a type in a request."""
    lists = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    return [block for blocks in lists for block in blocks if block["type"] == kind]


@BOTH_LOOPS
def test_one_tool(ask_claude: NativeAsker, loop: str) -> None:
    """The call is executed, its result is sent, and the answer uses it."""
    run = ask_claude(BUDGET, "What is 17 * 23?", loop=loop)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    assert "391" in run.heard.text
    [call] = blocks_of(run.requests[1], "tool_use")
    [result] = blocks_of(run.requests[1], "tool_result")
    assert (call["name"], result["tool_use_id"]) == ("calculate", call["id"])
    assert run.heard.done["usage"]["input"] > 0


@BOTH_LOOPS
def test_parallel_tools(ask_claude: NativeAsker, loop: str) -> None:
    """The results of three calls are in one user message, in the order of the calls."""
    run = ask_claude("sim-parallel", "What is the tool loop of Signalbox?", loop=loop)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    calls, results = (blocks_of(run.requests[1], kind) for kind in ("tool_use", "tool_result"))
    assert [result["tool_use_id"] for result in results] == [call["id"] for call in calls]
    assert len(calls) == 3
    assert [message["role"] for message in run.requests[1]["messages"]] == ["user", "assistant", "user"]


@BOTH_LOOPS
@pytest.mark.parametrize("model", [BUDGET, ADAPTIVE, REDACTED])
def test_thinking_over_several_steps(ask_claude: NativeAsker, model: str, loop: str) -> None:
    """Each request has the thinking of all steps before; the simulator accepts the signatures."""
    run = ask_claude(model, STEPS, loop=loop, reasoning=THINK)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200, 200])
    kind = "redacted_thinking" if model == REDACTED else "thinking"
    thoughts = [blocks_of(body, kind) for body in run.requests]
    assert [len(found) for found in thoughts] == [0, 1, 2]
    assert thoughts[2][:1] == thoughts[1]
    assert ("I should" in run.heard.reasoning) == (model != REDACTED)
    assert run.heard.done["usage"]["reasoning"] > 0


@BOTH_LOOPS
@pytest.mark.parametrize("model", [BUDGET, ADAPTIVE, REDACTED])
def test_a_changed_signature(ask_claude: NativeAsker, monkeypatch: pytest.MonkeyPatch, model: str, loop: str) -> None:
    """The simulator rejects it. The loop then sends the steps without thinking, and the run still ends in an answer."""

    def altered(*arguments: Any, **options: Any) -> bytes:
        body = json.loads(written(*arguments, **options))
        for block in [*blocks_of(body, "thinking"), *blocks_of(body, "redacted_thinking")]:
            field = "signature" if block["type"] == "thinking" else "data"
            block[field] = block[field][::-1]
        return json.dumps(body).encode()

    written = dialect.body_of
    monkeypatch.setattr(dialect, "body_of", altered)
    run = ask_claude(model, STEPS, loop=loop, reasoning=THINK)
    assert run.statuses[:2] == [200, 400]
    assert run.outcome == ("complete", None)
    assert "2+2" in run.heard.text


@BOTH_LOOPS
def test_the_last_step_calls_no_tools(ask_claude: NativeAsker, loop: str) -> None:
    """At the step limit, the request has the same tools and the choice `none`."""
    run = ask_claude("sim-steps-8", "What is the tool loop of Signalbox?", loop=loop, max_steps=3)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200, 200])
    first, *_, last = run.requests
    assert last["tool_choice"] == {"type": "none"}
    assert "tool_choice" not in first  # neither forced nor limited to one call at a time
    assert first["tools"] == last["tools"]
    assert run.heard.text


@BOTH_LOOPS
def test_a_paused_turn_goes_on(ask_claude: NativeAsker, loop: str) -> None:
    """Anthropic pauses a turn while it executes tools; the turn goes back unchanged as the last message."""
    run = ask_claude("sim-pause", "What is the tool loop?", loop=loop, reasoning=THINK)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    first, second = run.requests
    assert len(second["messages"]) == len(first["messages"]) + 1
    turn = second["messages"][-1]
    assert (turn["role"], [block["type"] for block in turn["content"]]) == (
        "assistant",
        ["thinking", "server_tool_use"],
    )
    assert second["tools"] == first["tools"]
    assert run.heard.text


@BOTH_LOOPS
def test_a_turn_that_is_paused_at_the_limit(ask_claude: NativeAsker, loop: str) -> None:
    """The last step allows no tools, so the model could not continue there."""
    run = ask_claude("sim-pause", "What is the tool loop?", loop=loop, max_steps=2)
    assert (run.outcome, run.statuses) == (("interrupted", "TURN_PAUSED"), [200])


@BOTH_LOOPS
def test_another_model_goes_on(ask_claude: NativeAsker, loop: str) -> None:
    """Steps of another model are sent without its thinking, whose signature would be rejected."""
    first = ask_claude(BUDGET, "What is 17 * 23?", loop=loop, reasoning=THINK)
    said = {"role": "assistant", "content": first.heard.text}
    messages = [{"role": "user", "content": "What is 17 * 23?"}, said, {"role": "user", "content": "And 5 * 5?"}]
    second = ask_claude(ADAPTIVE, "", loop=loop, messages=messages, reasoning=THINK)
    assert (second.outcome, set(second.statuses)) == (("complete", None), {200})
    assert "25" in second.heard.text
    assert blocks_of(second.requests[0], "thinking") == []


@BOTH_LOOPS
def test_later_steps_read_the_prompt_cache(ask_claude: NativeAsker, loop: str) -> None:
    """The beginning of a request is byte-identical to the request before, so most of it is cached."""
    system = f"You answer briefly. This is the loop {loop}. " * 200
    run = ask_claude(BUDGET, STEPS, loop=loop, system=system, reasoning=THINK)
    assert run.outcome == ("complete", None)
    usage = run.heard.done["usage"]
    assert usage["cached"] > usage["input"] / 2


@BOTH_LOOPS
def test_unknown_blocks_and_events(ask_claude: NativeAsker, loop: str) -> None:
    """Types that the decoder does not know are skipped, and come back unchanged in the tool loop."""
    run = ask_claude("sim-unknown", "What is 17 * 23?", loop=loop)
    assert (run.outcome, run.statuses) == (("complete", None), [200, 200])
    assert "391" in run.heard.text
    assert blocks_of(run.requests[1], "unheard_of") == [{"type": "unheard_of", "value": 1}]


@BOTH_LOOPS
def test_a_search_of_the_api(ask_claude: NativeAsker, loop: str) -> None:
    """Its blocks are no calls for the loop, and the cited page is a citation."""
    run = ask_claude("sim-server-search", "Search for the tool loop", loop=loop)
    assert (run.outcome, run.statuses) == (("complete", None), [200])
    assert run.heard.calls == []
    assert "A step is one model call." in run.heard.text
