"""Every recorded tool loop, driven through the app over HTTP: the next request contains what the model sent."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext
from signalbox.encoders.check import first_stream_fault
from signalbox.profiles import profile_for
from signalbox.simulator.http.server import BackgroundSimulator

from tests.conftest import recordings_folder
from tests.scenarios.recordings.conftest import Count, known
from tests.scenarios.recordings.recorded import Recorded, as_text, chains, load, merged
from tests.support.fakes import make_tool
from tests.support.running_app import RunningApp, settings_for

# Chains whose requests rightly differ from what the model sent, each with its reason. There is none.
EXCEPTIONS: dict[str, str] = {}


@dataclass(frozen=True)
class Loop:
    """Steps of one chain that form one run: all except the last call tools."""

    chain: str
    steps: tuple[Recorded, ...]

    def __str__(self) -> str:
        return f"{self.chain}-from-{self.steps[0].facts['chain']['step']}"


def loops_of(chain: str, steps: list[Recorded]) -> list[Loop]:
    """Split a chain at user messages and failed steps into its tool loops."""
    found: list[Loop] = []
    first = 0
    for place, step in enumerate(steps):
        is_last = place == len(steps) - 1
        follows = not is_last and (not steps[place + 1].messages or steps[place + 1].messages[-1]["role"] == "tool")
        if step.calls and (follows or (place == first and not is_last)):
            continue
        if place > first:
            found.append(Loop(chain, tuple(steps[first : place + 1])))
        first = place + 1
    return found


CHAINS = chains(load(recordings_folder()))
LOOPS = [loop for name, steps in CHAINS.items() for loop in loops_of(name, steps)]
known("chains by chain id", len(CHAINS))
known("chains by model id", len(CHAINS))


def as_sent_to_us(message: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a recorded message that the API accepts."""
    return {k: v for k, v in message.items() if k in ("role", "content", "tool_calls", "tool_call_id")}


def tools_of(loop: Loop, *, eager: bool) -> list[Tool]:
    """Make tools with the recorded names and schemas that return the recorded results."""
    schemas: dict[str, JsonObject] = {}
    answers: dict[str, str] = {}
    for step in loop.steps:
        offered = (step.facts.get("request") or {}).get("tools") or []
        schemas |= {t["function"]["name"]: t["function"].get("parameters") or {"type": "object"} for t in offered}
        schemas = {call["name"]: {"type": "object", "additionalProperties": True} for call in step.calls} | schemas
        named = {c["id"]: c["function"]["name"] for m in step.messages for c in m.get("tool_calls") or []}
        answers |= {named.get(m["tool_call_id"], ""): str(m["content"]) for m in step.messages if m["role"] == "tool"}

    def make(name: str, schema: JsonObject) -> Tool:
        async def answer(arguments: JsonObject, context: ToolContext) -> str:
            return answers.get(name, "done")

        return make_tool(name, answer, eager=eager, parameters=schema)

    return [make(name, schema) for name, schema in schemas.items()]


def drive(loop: Loop, model: str, folder: Path, *, eager: bool) -> tuple[bytes, list[dict[str, Any]]]:
    """Run the loop through app and simulator; return the stream and the requests that the simulator received."""
    library = folder / "library"
    library.mkdir()
    for step in loop.steps:
        for file in (step.file, step.file.parent / f"{step.stem}.json"):
            (library / file.name).symlink_to(file)
    tools = tools_of(loop, eager=eager)
    question = [as_sent_to_us(m) for m in loop.steps[0].messages] or [{"role": "user", "content": "Use the tools."}]
    body = {"model": model, "messages": question, "max_steps": len(loop.steps), "tools": [t.spec.name for t in tools]}
    with BackgroundSimulator(replay=library) as simulator:
        upstream = {"openrouter_base_url": simulator.base_url, "openrouter_api_key": "sk-test"}
        with RunningApp(settings_for(folder / "data", **upstream), extra_tools=tools) as app:
            stream = app.client.post("/api/chat/stream", json=body)
        received = [r.body for r in simulator.state.requests if r.path.endswith("/chat/completions")]
    assert stream.status_code == 200, stream.text
    return stream.content, received


def assert_step_goes_back(said: Recorded, request: dict[str, Any], model: str) -> None:
    """Check that the request after a step has its calls, its reasoning and one result per call, in order."""
    at = max(i for i, m in enumerate(request["messages"]) if m["role"] == "assistant")
    message, results = request["messages"][at], request["messages"][at + 1 :]
    assert [c["id"] for c in message["tool_calls"]] == [c["id"] for c in said.calls]
    assert [c["function"]["name"] for c in message["tool_calls"]] == [c["name"] for c in said.calls]
    for sent, call in zip(message["tool_calls"], said.calls, strict=True):
        sound = call["arguments_status"] in ("ok", "empty")
        assert json.loads(sent["function"]["arguments"]) == (call["arguments"] if sound else {})
    assert [(m["role"], m["tool_call_id"]) for m in results] == [("tool", c["id"]) for c in said.calls]
    assert (message["content"] or "") == said.expect["content"]
    details = merged(said.expect.get("reasoning_details") or [])
    assert as_text(message.get("reasoning_details") or []) == as_text(details)
    if said.expect["reasoning"] and not details and profile_for(model).echo_reasoning:
        assert message["reasoning_content"] == said.expect["reasoning"]


def assert_loop_holds(loop: Loop, model: str, folder: Path, *, eager: bool) -> None:
    """Drive a loop and compare each request with the step before it."""
    stream, requests = drive(loop, model, folder, eager=eager)
    assert first_stream_fault(stream)[0] is None
    assert len(requests) >= len(loop.steps)
    if f"{loop}" in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[f"{loop}"])
    for place, said in enumerate(loop.steps[:-1]):
        assert_step_goes_back(said, requests[place + 1], model)
    if not loop.steps[-1].calls:
        assert len(requests) == len(loop.steps)
        assert b'"status":"complete"' in stream


def test_there_are_loops_in_every_chain(recordings: Path) -> None:
    """Each chain has at least one tool loop."""
    assert {loop.chain for loop in LOOPS} == set(CHAINS)


@pytest.mark.parametrize("eager", [True, False], ids=["eager", "later"])
@pytest.mark.parametrize("loop", LOOPS, ids=str)
def test_by_chain_id(loop: Loop, eager: bool, tmp_path: Path, counted: Count) -> None:
    """A chain under a model id without a family is sent back unchanged, for eager and other tools."""
    with counted("chains by chain id", loop.chain):
        assert_loop_holds(loop, f"replay/{loop.chain}", tmp_path, eager=eager)


@pytest.mark.parametrize("loop", LOOPS, ids=str)
def test_by_model_id(loop: Loop, tmp_path: Path, counted: Count) -> None:
    """A chain under its real model id is sent back with its family's rules applied."""
    with counted("chains by model id", loop.chain):
        assert_loop_holds(loop, loop.steps[0].facts["model"], tmp_path, eager=True)
