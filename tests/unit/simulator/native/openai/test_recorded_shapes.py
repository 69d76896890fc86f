"""Events of the simulated Responses API have the fields of recorded ones, in the recorded order."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.unit.simulator.native.openai.conversation import ENCRYPTED, SUMMARY, ask, events_in, post

# OpenAI's own host and Azure, verbatim, of 2026; other recordings are of other servers, or their keys were sorted.
RECORDED = "openai-responses__gpt-5.4__*.sse", "openai-responses__gpt-5-mini__*.sse", "openai-responses__gpt-4.1__*.sse"
# Azure reports its filters, and OpenAI who pays.
OF_SOME_HOSTS = {"content_filters", "billing", "tool_usage"}
Shapes = dict[str, set[tuple[str, ...]]]


def shapes_of(events: Iterable[dict[str, Any]]) -> Shapes:
    """Return the orders of keys of each kind of object in the events."""
    found: Shapes = {}
    for event in events:
        for kind, fields in _objects(event):
            found.setdefault(kind, set()).add(tuple(key for key in fields if key not in OF_SOME_HOSTS))
    return found


def _objects(event: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield event["type"], event
    if "item" in event:
        yield f"item {event['item']['type']}", event["item"]
    for part in (event.get("part"), *event.get("item", {}).get("content", [])):
        if part:
            yield f"part {part['type']}", part
    response: dict[str, Any] = event.get("response", {})
    if response:
        yield "response", response
    for name in ("usage", "reasoning", "text"):
        if isinstance(response.get(name), dict):
            yield name, response[name]
    for tool in response.get("tools", []):
        yield f"tool {tool['type']}", tool


@pytest.fixture(scope="module")
def recorded(recordings: Path) -> Shapes:
    """Return the shapes of the recorded events."""
    files = [file for pattern in RECORDED for file in recordings.glob(pattern)]
    assert files
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return shapes_of(json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {"))


@pytest.mark.parametrize("model", ["gpt-5.4", "gpt-4.1", "sim-web-search"])
def test_fields_and_their_order(openai: httpx.Client, recorded: Shapes, model: str) -> None:
    """Every simulated object has an order of keys that was recorded."""
    reasoning = {"reasoning": SUMMARY, **ENCRYPTED} if model != "gpt-4.1" else {}
    bodies = [ask(model, question, stream=True, **reasoning) for question in ("What is 17 * 23?", "Hello!")]
    simulated = shapes_of(event for body in bodies for event in events_in(post(openai, body).text))
    assert len(simulated) > 15
    unlike = {kind: orders - recorded.get(kind, set()) for kind, orders in simulated.items()}
    assert {kind: orders for kind, orders in unlike.items() if orders} == {}
