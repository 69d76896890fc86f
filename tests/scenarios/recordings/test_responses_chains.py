"""Recorded tool loops of the Responses API, driven by the library: each request contains what the API sent before."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from signalbox import Runner, Upstream
from signalbox.core.messages import JsonObject, Message, SystemMessage, UserMessage
from signalbox.core.tools import Tool, ToolContext

from tests.conftest import recordings_folder
from tests.scenarios.recordings.conftest import Count, known
from tests.scenarios.recordings.recorded import Recorded, as_text, chains, load
from tests.scenarios.runner.model import refused
from tests.support.fakes import make_tool
from tests.support.scripted_upstream import ScriptedUpstream, sends

pytestmark = pytest.mark.anyio
# Recorded clients change items of the API: they send the item's id as the call's id, add the id of the response as a
# prefix, or omit optional fields.
CHANGED = {"id", "call_id", "status", "content"}


def loops_of(steps: list[Recorded]) -> list[list[Recorded]]:
    """Split a chain at the steps without calls, which end a tool loop."""
    loops: list[list[Recorded]] = [[]]
    for step in steps:
        loops[-1].append(step)
        if not step.calls:
            loops.append([])
    return [loop for loop in loops if len(loop) > 1]


LOOPS = {
    f"{name}-from-{loop[0].facts['chain']['step']}": loop
    for name, steps in chains(load(recordings_folder(), ("openai-responses",))).items()
    for loop in loops_of(steps)
}
known("Responses loops", len(LOOPS))


def items_of(recorded: Recorded) -> list[Any]:
    """Return the finished items of a recorded stream, read without the decoder."""
    frames = [json.loads(line[6:]) for line in recorded.body.splitlines() if line.startswith(b"data: {")]
    return [frame["item"] for frame in frames if frame["type"] == "response.output_item.done"]


def input_of(recorded: Recorded) -> list[dict[str, Any]]:
    """Return the input that the recorded client sent."""
    return recorded.facts["request"]["input"]


def question_of(loop: list[Recorded]) -> list[Message]:
    """Return the system and user messages of the first request; the other items belong to earlier loops."""
    makers = {"system": SystemMessage, "developer": SystemMessage, "user": UserMessage}
    asked = [item for item in input_of(loop[0]) if item.get("role") in makers]
    return [makers[item["role"]](_text(item["content"])) for item in asked]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def tools_of(loop: list[Recorded]) -> list[Tool]:
    """Make tools that return the recorded results, one after the other."""
    results: dict[str, list[str]] = {}
    for before, after in pairwise(loop):
        told = [item["output"] for item in input_of(after) if item.get("type") == "function_call_output"]
        for call, result in zip(before.calls, told[-len(before.calls) :], strict=True):
            results.setdefault(call["name"], []).append(result)

    def make(name: str, left: list[str]) -> Tool:
        async def answer(arguments: JsonObject, context: ToolContext) -> str:
            return left.pop(0)

        return make_tool(name, answer, parameters={"type": "object", "additionalProperties": True})

    return [make(name, left) for name, left in results.items()]


async def requests_of(loop: list[Recorded]) -> list[bytes]:
    """Run the loop, and return the bodies of its requests."""
    with ScriptedUpstream(*(sends(step.body) for step in loop), refused, path="") as server:
        upstream = Upstream(server.base_url, "key", dialect="openai-responses")
        answer = await Runner(upstream, loop[0].facts["model"], question_of(loop), tools=tools_of(loop)).answer()
        assert (answer.status, answer.text) == ("complete", loop[-1].expect["content"])
        assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer key"}
    return [asked.raw for asked in server.asked]


def kept(item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an item that recorded clients send unchanged."""
    return {key: value for key, value in item.items() if key not in CHANGED}


@pytest.mark.parametrize("loop", LOOPS)
async def test_the_next_request_carries_the_turn(loop: str, recordings: Path, counted: Count) -> None:
    """Request n + 1 begins with request n, and has the items that the API sent, and one result per call."""
    steps = LOOPS[loop]
    with counted("Responses loops", loop):
        requests = await requests_of(steps)
        for place, (before, after) in enumerate(pairwise(requests)):
            assert after.startswith(before.removesuffix(b"]}") + b",")
            new = json.loads(after)["input"][len(json.loads(before)["input"]) :]
            items = items_of(steps[place])
            turn, results = new[: len(items)], new[len(items) :]
            assert as_text(turn) == as_text(items)
            assert [(item["type"], item["call_id"]) for item in results] == [
                ("function_call_output", call["id"]) for call in steps[place].calls
            ]
            told = [item for item in input_of(steps[place + 1]) if item.get("type") in ("reasoning", "function_call")]
            # Recorded clients may leave out reasoning; what they send, this request has, too.
            ours = [kept(item) for item in turn]
            assert all(kept(item) in ours for item in told[-len(steps[place].calls) :])
            assert {item.get("encrypted_content") for item in told} <= {
                item.get("encrypted_content") for item in json.loads(after)["input"]
            }


def test_there_are_loops(recordings: Path) -> None:
    """Five chains contain six tool loops."""
    assert len(LOOPS) == 6
