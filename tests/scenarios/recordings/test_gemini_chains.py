"""Recorded tool loops of Gemini, driven by the library: each request contains what the API sent before."""

import json
from pathlib import Path
from typing import Any

import pytest
from signalbox import Runner, Upstream
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext

from tests.conftest import recordings_folder
from tests.scenarios.recordings.conftest import Count, known
from tests.scenarios.recordings.recorded import Recorded, as_text, chains, load
from tests.scenarios.runner.model import refused
from tests.support.fakes import make_tool
from tests.support.scripted_upstream import ScriptedUpstream, sends

pytestmark = pytest.mark.anyio
# In the other chain, the second request asks a new question: its tool loop has ended, so its turn needs no signature.
LOOPS = {
    name: steps
    for name, steps in chains(load(recordings_folder(), ("gemini",))).items()
    if "functionResponse" in steps[1].facts["request"]["contents"][-1]["parts"][0]
}
known("Gemini loops", len(LOOPS))


def parts_of(recorded: Recorded) -> list[Any]:
    """Return the parts of a recorded stream, read without the decoder."""
    frames = [json.loads(line[6:]) for line in recorded.body.splitlines() if line.startswith(b"data: ")]
    contents = [candidate.get("content", {}) for frame in frames for candidate in frame["candidates"]]
    return [part for content in contents for part in content.get("parts", [])]


def tools_of(loop: list[Recorded]) -> list[Tool]:
    """Make tools that return the recorded results."""
    results = {
        part["functionResponse"]["name"]: str(part["functionResponse"]["response"]["result"])
        for part in loop[1].facts["request"]["contents"][-1]["parts"]
    }

    def make(name: str, result: str) -> Tool:
        async def answer(arguments: JsonObject, context: ToolContext) -> str:
            return result

        return make_tool(name, answer, parameters={"type": "object", "additionalProperties": True})

    return [make(name, result) for name, result in results.items()]


def as_the_api_sent(part: dict[str, Any]) -> dict[str, Any]:
    """Remove an id that the recorded client made up, because the API had sent none."""
    inner = {key: value for key, value in part.items() if key in ("functionCall", "functionResponse")}
    return {**part, **{key: {k: v for k, v in value.items() if k != "id"} for key, value in inner.items()}}


def in_key_order(value: object) -> str:
    """Return JSON with sorted keys: the recorded clients sort theirs."""
    return json.dumps(value, sort_keys=True)


async def requests_of(loop: list[Recorded]) -> list[bytes]:
    """Run the loop, and return the bodies of its requests."""
    with ScriptedUpstream(*(sends(step.body) for step in loop), refused, path="") as server:
        upstream = Upstream(server.base_url, "key", dialect="gemini")
        question = loop[0].facts["request"]["contents"][0]["parts"][0]["text"]
        answer = await Runner(upstream, loop[0].facts["model"], question, tools=tools_of(loop)).answer()
        assert (answer.status, answer.text) == ("complete", loop[-1].expect["content"])
        assert {asked.headers["x-goog-api-key"] for asked in server.asked} == {"key"}
    return [asked.raw for asked in server.asked]


@pytest.mark.parametrize("chain", LOOPS)
async def test_the_next_request_carries_the_turn(chain: str, recordings: Path, counted: Count) -> None:
    """Request n + 1 begins with request n, and has the parts that the API sent, and one result per call."""
    loop = LOOPS[chain]
    with counted("Gemini loops", chain):
        first, second = await requests_of(loop)
        assert second.startswith(first.removesuffix(b"]}"))
        _, turn, results = json.loads(second)["contents"]
        assert (turn["role"], results["role"]) == ("model", "user")
        assert as_text(turn["parts"]) == as_text(parts_of(loop[0]))
        recorded_turn, recorded_results = loop[1].facts["request"]["contents"][1:]
        # The recorded client leaves out the thoughts that the API sent.
        sent = [part for part in turn["parts"] if not part.get("thought")]
        assert in_key_order(sent) == in_key_order([as_the_api_sent(part) for part in recorded_turn["parts"]])
        named = [part["functionResponse"]["name"] for part in recorded_results["parts"]]
        assert [[*part["functionResponse"]] for part in results["parts"]] == [["name", "response"]] * len(named)
        assert [part["functionResponse"]["name"] for part in results["parts"]] == named
