"""Content is exported only if the operator switches it on."""

import json
from collections.abc import Sequence

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext

from tests.scenarios.tracing.conftest import Trace, calling, saying
from tests.support.collector import Collector
from tests.support.fakes import make_tool
from tests.support.fixtures import StartApp
from tests.support.scripted_upstream import ScriptedUpstream

SWITCH = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CANARIES = ("canary-system", "canary-prompt", "canary-argument", "canary-result", "canary-answer", "canary-metadata")
CONVENTIONS = pytest.mark.parametrize("convention", ["latest", "1.41", "openinference"])
BOTH_LOOPS = pytest.mark.parametrize("v2", [True, False], ids=["v2", "legacy"])


def answer(arguments: JsonObject, context: ToolContext) -> object:
    """Return a result with a canary."""
    return {"found": "canary-result"}


def run(start_app: StartApp, collector: Collector, *, v2: bool) -> Sequence[str]:
    """Run a conversation that has a canary everywhere; return those that reached the collector."""
    script = calling(("look", {"query": "canary-argument"}))
    app, _ = start_app(
        script, saying("canary-answer"), settings={"tool_loop_v2": v2}, extra_tools=[make_tool("look", answer)]
    )
    messages = [{"role": "system", "content": "canary-system"}, {"role": "user", "content": "canary-prompt"}]
    app.ask(messages=messages, tools=["look"], metadata={"note": "canary-metadata"})
    collector.wait_for_runs()
    sent = b"".join(collector.bodies).decode("latin-1")
    return [canary for canary in CANARIES if canary in sent]


@CONVENTIONS
@BOTH_LOOPS
@pytest.mark.parametrize("switch", [None, "false", "NO_CONTENT"])
def test_no_content_is_exported_by_default(
    start_app: StartApp, collector: Collector, traced: Trace, convention: str, switch: str | None, *, v2: bool
) -> None:
    """Neither prompts nor answers, arguments or results."""
    traced(OTEL_SEMCONV=convention, **({SWITCH: switch} if switch else {}))
    assert run(start_app, collector, v2=v2) == []


@BOTH_LOOPS
@pytest.mark.parametrize("convention", ["latest", "1.41"])
def test_content_has_the_attributes_of_the_genai_conventions(
    start_app: StartApp, collector: Collector, traced: Trace, convention: str, *, v2: bool
) -> None:
    """Messages are JSON; metadata is never exported."""
    traced(OTEL_SEMCONV=convention, **{SWITCH: "true"})
    assert run(start_app, collector, v2=v2) == [name for name in CANARIES if name != "canary-metadata"]
    first, second = collector.named("chat openai/sim")
    tool, root = collector.the("execute_tool look"), collector.the("invoke_agent")
    assert json.loads(first.attributes["gen_ai.system_instructions"])[0]["content"].startswith("canary-system")
    asked = json.loads(first.attributes["gen_ai.input.messages"])
    assert asked == [{"role": "user", "parts": [{"type": "text", "content": "canary-prompt"}]}]
    [called] = json.loads(first.attributes["gen_ai.output.messages"])
    assert called["parts"][0]["name"] == "look"
    assert called["finish_reason"] == "tool_calls"
    result = json.loads(second.attributes["gen_ai.input.messages"])[2]
    assert (result["role"], result["parts"][0]["type"]) == ("tool", "tool_call_response")
    assert json.loads(tool.attributes["gen_ai.tool.call.arguments"]) == {"query": "canary-argument"}
    assert json.loads(tool.attributes["gen_ai.tool.call.result"]) == {"found": "canary-result"}
    assert "canary-prompt" in root.attributes["gen_ai.input.messages"]
    assert "canary-answer" in root.attributes["gen_ai.output.messages"]


def test_content_has_the_attributes_of_openinference(start_app: StartApp, collector: Collector, traced: Trace) -> None:
    """One attribute for each text."""
    traced(OTEL_SEMCONV="openinference", **{SWITCH: "true"})
    run(start_app, collector, v2=True)
    first, second = collector.named("chat openai/sim")
    tool, root = collector.the("execute_tool look"), collector.the("invoke_agent")
    assert first.attributes["llm.input_messages.1.message.content"] == "canary-prompt"
    assert first.attributes["llm.output_messages.0.message.tool_calls.0.tool_call.function.name"] == "look"
    assert second.attributes["llm.input_messages.3.message.role"] == "tool"
    ids = [first.attributes["llm.output_messages.0.message.tool_calls.0.tool_call.id"], tool.attributes["tool.id"]]
    assert second.attributes["llm.input_messages.3.message.tool_call_id"] == ids[0] == ids[1] == "call_1"
    assert second.attributes["llm.output_messages.0.message.content"] == "canary-answer"
    assert json.loads(tool.attributes["input.value"]) == {"query": "canary-argument"}
    assert (root.attributes["input.value"], root.attributes["output.value"]) == ("canary-prompt", "canary-answer")


def sent_ids(upstream: ScriptedUpstream) -> list[str]:
    """Return the ids of calls and results in the last request, as the upstream received them."""
    messages = upstream.asked[-1].body["messages"]
    calls = [call["id"] for one in messages for call in one.get("tool_calls") or ()]
    return [*calls, *(one["tool_call_id"] for one in messages if one["role"] == "tool")]


@BOTH_LOOPS
def test_ids_of_calls_are_those_that_the_upstream_received(
    start_app: StartApp, collector: Collector, traced: Trace, *, v2: bool
) -> None:
    """In the run of the call, they also join the messages and the span of the tool; later questions have our ids."""
    traced(**{SWITCH: "true"})
    scripts = (calling(("look", {"query": "one"})), saying("Found."), saying("Yes."))
    app, upstream = start_app(*scripts, settings={"tool_loop_v2": v2}, extra_tools=[make_tool("look", answer)])
    app.ask("Look.", tools=["look"], conversation_id="ids")
    collector.wait_for_runs()
    assert exported_ids(collector) == sent_ids(upstream) == ["call_1", "call_1"]
    tool = collector.the("execute_tool look")
    assert tool.attributes["gen_ai.tool.call.id"] == "call_1"
    app.ask("Sure?", tools=["look"], conversation_id="ids")
    collector.wait_for_runs(2)
    assert exported_ids(collector) == sent_ids(upstream) == [tool.attributes["signalbox.tool_call.id"]] * 2


def exported_ids(collector: Collector) -> list[str]:
    """Return the ids of calls and results in the last exported request."""
    exported = json.loads(collector.named("chat openai/sim")[-1].attributes["gen_ai.input.messages"])
    parts = [part for message in exported for part in message["parts"]]
    return [part["id"] for kind in ("tool_call", "tool_call_response") for part in parts if part["type"] == kind]
