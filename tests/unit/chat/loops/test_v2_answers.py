"""When the V2 loop makes a model answer, and what happens if it does not."""

from typing import Any

import pytest
from signalbox.chat.context import Limits
from signalbox.chat.loops.finalize import FINAL_WORDS, FINAL_WORDS_AGAIN
from signalbox.core.events import Content, Warning
from signalbox.core.messages import (
    JsonObject,
    SystemMessage,
    UserMessage,
)
from signalbox.core.params import public_choice
from signalbox.core.parts import (
    ReasoningDelta,
    TextDelta,
)
from signalbox.core.tools import Tool

from tests.support.fakes import SERVED, ScriptedClient, answer, call, calls, ending, make_tool
from tests.support.loop_runs import run
from tests.support.loop_tools import Q, assistants, eager, searching

pytestmark = pytest.mark.anyio


# --- when it must answer ---


async def test_two_unproductive_steps_lead_to_the_finalize() -> None:
    """After two steps of only cached, clamped, unknown or invalid calls, the model must answer."""
    _, tool = searching()
    again = calls(call(0, "search_web", Q))
    odd = calls(call(0, "nothing", "{}"), call(1, "search_web", "{}"))
    client = ScriptedClient(calls(call(0, "search_web", Q)), again, odd, answer("Hi"))
    outcome = await run(client, [tool])
    assert client.requests[-1].tool_choice == "none"
    assert [r.tool_choice for r in client.requests[:-1]] == [None] * 3
    assert "MAX_STEPS" not in outcome.warnings
    assert outcome.done.status == "complete"


async def test_a_productive_step_resets_the_count() -> None:
    """A new search between unproductive steps lets the model continue."""
    _, tool = searching()
    old, new = call(0, "search_web", Q), call(1, "search_web", '{"query":"other"}')
    client = ScriptedClient(calls(old), calls(old), calls(old, new), calls(old), answer("Hi"))
    await run(client, [tool])
    assert client.requests[-1].tool_choice is None


async def test_clamped_steps_are_unproductive() -> None:
    """A model that continues to search over the limit must answer, after one warning (D4)."""
    backend, tool = searching()
    more = (calls(call(0, "search_web", f'{{"query":"q{n}"}}')) for n in range(3))
    client = ScriptedClient(*more, answer("Hi"))
    outcome = await run(client, [tool], limits=Limits(max_searches=1))
    assert len(backend.asked) == 1
    assert client.requests[-1].tool_choice == "none"
    assert outcome.warnings == ["TOOL_CLAMP"]


@pytest.mark.parametrize("max_steps", [1, 2, 5])
async def test_max_steps_counts_every_model_call(max_steps: int) -> None:
    """A model that always calls tools is called exactly that often; in the last step it may not call (D5)."""
    scripts = [calls(call(0, "f", f'{{"n":{n}}}')) for n in range(max_steps - 1)]
    client = ScriptedClient(*scripts, answer("Hi"))
    outcome = await run(client, [make_tool("f")], limits=Limits(max_steps=max_steps))
    assert len(client.requests) == outcome.done.steps == max_steps
    assert [r.tool_choice for r in client.requests] == [None] * (max_steps - 1) + ["none"]
    assert outcome.warnings == (["MAX_STEPS"] if max_steps == 1 else [])
    assert client.requests[-1].messages[0] == SystemMessage(FINAL_WORDS)
    assert client.requests[-1].tools == client.requests[0].tools


@pytest.mark.parametrize(
    ("tool_choice", "warnings"), [(None, ["MAX_STEPS"]), ("required", ["MAX_STEPS"]), ("none", [])]
)
async def test_max_steps_1_warns_that_no_tool_can_run(tool_choice: str | None, warnings: list[str]) -> None:
    """The run begins with a warning, unless the caller wanted no tools."""
    client = ScriptedClient(answer("Hi"))
    outcome = await run(client, [make_tool("f")], limits=Limits(max_steps=1), tool_choice=tool_choice)
    assert outcome.warnings == warnings
    assert (outcome.text, outcome.done.status) == ("Hi", "complete")
    if warnings:
        first = outcome.events[0]
        assert isinstance(first, Warning)
        assert "no tool can run" in first.message


async def test_no_step_warning_for_an_answer_in_time() -> None:
    """A run that ends before its limit has no warning about steps (1.0, row 48)."""
    outcome = await run(
        ScriptedClient(calls(call(0, "f", "{}")), answer("Hi")), [make_tool("f")], limits=Limits(max_steps=3)
    )
    assert outcome.warnings == []


async def test_max_steps_without_tools() -> None:
    """Without tools there is one model call, whatever the limit, and no warning."""
    client = ScriptedClient(answer("Hi"))
    outcome = await run(client, limits=Limits(max_steps=1))
    assert outcome.warnings == []
    assert client.requests[0].messages == (UserMessage("What is the tool loop?"),)


async def test_an_empty_finalize_is_repeated_once() -> None:
    """The repetition does not count as a step, and its instruction says why; a second answer counts (D2)."""
    client = ScriptedClient(calls(call(0, "f", "{}")), answer(), answer("Hi"))
    outcome = await run(client, [make_tool("f")], limits=Limits(max_steps=2), finalize_hint="In French.")
    assert (outcome.text, outcome.done.status, outcome.done.steps) == ("Hi", "complete", 3)
    assert client.requests[1].messages[0] == SystemMessage(f"{FINAL_WORDS}\n\nIn French.")
    assert client.requests[2].messages[0] == SystemMessage(f"{FINAL_WORDS}\n\nIn French.\n\n{FINAL_WORDS_AGAIN}")
    assert outcome.warnings == ["MAX_STEPS"]


async def test_two_empty_finalizes_end_in_a_synthetic_answer() -> None:
    """The answer says that there is none, lists the sources, and is marked as synthetic (D2)."""
    _, tool = searching()
    client = ScriptedClient(calls(call(0, "search_web", Q)), answer(), answer(" "), answer("\n"))
    outcome = await run(client, [tool])
    [ours] = [e for e in outcome.events if isinstance(e, Content) and e.synthetic is True]
    assert "https://example.org/tides" in ours.content
    assert "[1]" in ours.content
    assert outcome.warnings == ["FINAL_EMPTY"]
    assert outcome.done.status == "complete"
    assert not any(m.content.strip() for m in assistants(outcome))
    assert len(client.requests) == 4


async def test_calls_of_a_finalize_are_dropped() -> None:
    """Calls that are not allowed are neither announced nor run; the text beside them counts (D3)."""
    ran: list[JsonObject] = []
    tool = eager("f", lambda arguments, context: ran.append(arguments))
    last = [[SERVED], [call(0, "f", "{}")], [TextDelta("Hi")], ending("tool_calls")]
    outcome = await run(ScriptedClient(calls(call(0, "f", "{}")), last), [tool], limits=Limits(max_steps=2))
    assert len(outcome.announced) == len(ran) == 1
    assert (outcome.text, outcome.done.status) == ("Hi", "complete")
    assert not assistants(outcome)[-1].calls
    assert outcome.warnings == ["MAX_STEPS"]


async def test_a_finalize_of_only_calls_counts_as_empty() -> None:
    """It is repeated once, then the synthetic answer follows (D3, 1.0 row 10)."""
    stubborn = calls(call(0, "f", "{}"))
    outcome = await run(ScriptedClient(stubborn, stubborn, stubborn), [make_tool("f")], limits=Limits(max_steps=2))
    assert outcome.warnings == ["MAX_STEPS", "FINAL_EMPTY"]
    assert len(outcome.announced) == 1


async def test_a_blank_turn_is_followed_by_a_finalize() -> None:
    """A step without any content is followed by one that must answer."""
    client = ScriptedClient([[SERVED], [ReasoningDelta("Hm")], ending()], answer("Hi"))
    outcome = await run(client, [make_tool("f")])
    assert client.requests[1].tool_choice == "none"
    assert (outcome.text, outcome.warnings) == ("Hi", [])


@pytest.mark.parametrize("tools", [[], [make_tool("f")]], ids=["no tools", "tools"])
async def test_blank_turns_without_any_call_are_an_error(tools: list[Tool]) -> None:
    """A run is never complete with an empty answer (D2)."""
    outcome = await run(ScriptedClient(*[answer()] * 4), tools)
    assert (outcome.done.status, outcome.done.code) == ("error", "EMPTY_ANSWER")
    assert outcome.text == ""


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "f"}}])
async def test_a_forced_choice_applies_to_the_first_step_only(choice: Any) -> None:
    """Forced once; then the model may answer (PS-10)."""
    client = ScriptedClient(calls(call(0, "f", "{}")), answer("Hi"))
    await run(client, [make_tool("f")], tool_choice=choice)
    assert [public_choice(r.tool_choice) for r in client.requests] == [choice, "auto"]


async def test_tool_choice_none_runs_no_call() -> None:
    """With the caller's `none`, calls of the model are not run."""
    outcome = await run(
        ScriptedClient([[SERVED], [call(0, "f", "{}")], [TextDelta("Hi")], ending()]),
        [make_tool("f")],
        tool_choice="none",
    )
    assert (outcome.announced, outcome.text) == ([], "Hi")


async def test_dropped_parameters_are_reported_first() -> None:
    """One warning precedes everything else, only if a parameter was dropped."""
    tools = [make_tool("f")]
    format_: JsonObject = {"type": "json_object"}
    told = await run(
        ScriptedClient(answer("Hi")), tools, model="x-ai/x", params={"response_format": format_, "seed": 1}
    )
    assert isinstance(told.events[0], Warning)
    assert told.warnings == ["PARAM_DROPPED"]
    assert "response_format" in told.events[0].message
    quiet = await run(ScriptedClient(answer("Hi")), tools, model="openai/x", params={"response_format": format_})
    assert quiet.warnings == []
