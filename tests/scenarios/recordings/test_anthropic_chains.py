"""Tool loops of Anthropic's API, driven by the library: each request contains the blocks that the API sent before."""

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
NAME = "anthropic-messages"
ALL = load(recordings_folder(), (NAME,))
LOOPS = chains(ALL)
# Turns with calls that are in no recorded chain; the second answer is made up.
TURNS = {
    recorded.stem: recorded
    for recorded in ALL
    if recorded.calls
    and recorded.file.suffix == ".sse"
    and recorded.facts["chain"] is None
    and all(call["arguments_status"] == "ok" for call in recorded.calls)
}
known("Anthropic loops", len(LOOPS))
known("Anthropic turns with calls", len(TURNS))
ANSWER = (
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Done."}}\n\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\n\n'
    b'data: {"type":"message_stop"}\n\n'
)


def blocks_of(recorded: Recorded) -> list[dict[str, Any]]:
    """Return the blocks of a recorded stream, read without the decoder."""
    frames = [json.loads(line[6:]) for line in recorded.body.splitlines() if line.startswith(b"data: {")]
    blocks: list[dict[str, Any]] = []
    inputs: dict[int, str] = {}
    for event in frames:
        if event["type"] == "content_block_start":
            blocks.append(event["content_block"])
        elif event["type"] == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            if delta["type"] == "input_json_delta":
                inputs[event["index"]] = inputs.get(event["index"], "") + delta["partial_json"]
                block["input"] = json.loads(inputs[event["index"]] or "{}") if _is_whole(inputs[event["index"]]) else {}
            else:
                field = delta["type"].removesuffix("_delta")
                block[field] = block.get(field, "") + delta[field]
    return blocks


def _is_whole(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def tools_of(recorded: Recorded, results: dict[str, str]) -> list[Tool]:
    """Make tools with the names of the recorded calls that return the recorded results."""

    def make(name: str, result: str) -> Tool:
        async def answer(arguments: JsonObject, context: ToolContext) -> str:
            return result

        return make_tool(name, answer, parameters={"type": "object", "additionalProperties": True})

    return [make(call["name"], results.get(call["id"], "done")) for call in recorded.calls]


async def requests_of(recorded: Recorded, answer: bytes, results: dict[str, str]) -> list[bytes]:
    """Run the loop with two answers, and return the bodies of its requests."""
    with ScriptedUpstream(sends(recorded.body), sends(answer), refused, path="") as server:
        upstream = Upstream(server.base_url, "key", dialect=NAME)
        runner = Runner(upstream, recorded.facts["model"], "Use the tools.", tools=tools_of(recorded, results))
        assert (await runner.answer()).status == "complete"
        assert {asked.headers["x-api-key"] for asked in server.asked} == {"key"}
        assert {asked.headers["anthropic-version"] for asked in server.asked} == {"2023-06-01"}
    return [asked.raw for asked in server.asked]


def assert_turn_goes_back(recorded: Recorded, first: bytes, second: bytes) -> dict[str, Any]:
    """Check that the second request begins with the first, and has the blocks of the answer and one result per call."""
    assert second.startswith(first.removesuffix(b"]}"))
    request = json.loads(second)
    _, turn, results = request["messages"]
    assert (turn["role"], results["role"]) == ("assistant", "user")
    assert as_text(turn["content"]) == as_text(blocks_of(recorded))
    assert [(r["type"], r["tool_use_id"]) for r in results["content"]] == [
        ("tool_result", c["id"]) for c in recorded.calls
    ]
    return request


@pytest.mark.parametrize("chain", LOOPS)
async def test_the_next_request_carries_the_turn(chain: str, recordings: Path, counted: Count) -> None:
    """Request n + 1 has what the recorded client sent: its blocks, which have fewer fields, and its results."""
    first, second = LOOPS[chain]
    with counted("Anthropic loops", chain):
        _, turn, recorded_results = second.messages
        results = {result["tool_use_id"]: result["content"][0]["text"] for result in recorded_results["content"]}
        sent = assert_turn_goes_back(first, *await requests_of(first, second.body, results))
        for block, recorded in zip(sent["messages"][1]["content"], turn["content"], strict=True):
            assert {name: block[name] for name in recorded} == recorded
        for result, recorded in zip(sent["messages"][2]["content"], recorded_results["content"], strict=True):
            assert recorded["content"][0]["text"] in result["content"]


@pytest.mark.parametrize("stem", TURNS)
async def test_every_turn_with_calls_goes_back(stem: str, recordings: Path, counted: Count) -> None:
    """Thinking with its signature, text and calls go back as the API sent them."""
    with counted("Anthropic turns with calls", stem):
        assert_turn_goes_back(TURNS[stem], *await requests_of(TURNS[stem], ANSWER, {}))
