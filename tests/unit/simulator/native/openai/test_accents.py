"""Answers that only the Responses API has: their items and events, which are accepted when they come back."""

import httpx
import pytest
from signalbox.simulator.native.openai.accents import EVENTS, ITEMS, PLAIN_FRAMES
from signalbox.simulator.native.openai.models import ACCENTS

from tests.unit.simulator.native.openai.conversation import (
    ENCRYPTED,
    SUMMARY,
    answered,
    ask,
    continued,
    events_in,
    post,
)

QUESTION = "What is 17 * 23?"
REASON = {"reasoning": SUMMARY, **ENCRYPTED}
EXPECTED = {
    "sim-web-search": ["reasoning", "web_search_call", "message"],
    "sim-commentary": ["reasoning", "message", "function_call"],
    "sim-open-reasoning": ["reasoning", "function_call"],
    "sim-two-summaries": ["reasoning", "function_call"],
    "sim-whole-arguments": ["reasoning", "function_call"],
    "sim-plain-frames": ["reasoning", "function_call"],
    "sim-unknown": ["reasoning", "function_call", "unheard_of"],
}


def test_every_accent_is_tested() -> None:
    """Each accent has an id and an expectation here."""
    assert set(EXPECTED) == set(ACCENTS) == {f"sim-{name}" for name in (*ITEMS, *EVENTS, PLAIN_FRAMES)}


@pytest.mark.parametrize("model", EXPECTED)
def test_items_come_back(openai: httpx.Client, model: str) -> None:
    """The answer has these items, and the next request is accepted with them."""
    body = ask(model, QUESTION, **REASON)
    first = answered(openai, body)
    assert [item["type"] for item in first["output"]] == EXPECTED[model]
    second = answered(openai, continued(body, first["output"]))
    assert second["output"][-1]["type"] in ("message", "unheard_of")


def test_a_search_has_its_events_and_a_citation(openai: httpx.Client) -> None:
    """The search is announced, and the cited page follows the text."""
    events = list(events_in(post(openai, ask("sim-web-search", QUESTION, stream=True)).text))
    kinds = [event["type"].removeprefix("response.") for event in events]
    at = kinds.index("web_search_call.in_progress")
    assert kinds[at : at + 3] == [f"web_search_call.{step}" for step in ("in_progress", "searching", "completed")]
    [citation] = [event["annotation"] for event in events if event["type"].endswith("annotation.added")]
    assert citation["type"] == "url_citation"
    [part] = events[-1]["response"]["output"][-1]["content"]
    assert part["annotations"] == [citation]


def test_open_reasoning(openai: httpx.Client) -> None:
    """Readable reasoning is streamed as text, without a summary and without encryption."""
    response = answered(openai, ask("sim-open-reasoning", QUESTION, stream=True, **REASON))
    reasoning = response["output"][0]
    assert reasoning["summary"] == []
    assert reasoning["content"][0]["type"] == "reasoning_text"
    assert "encrypted_content" not in reasoning


def test_two_summaries(openai: httpx.Client) -> None:
    """The summary has two parts with their own events."""
    text = post(openai, ask("sim-two-summaries", QUESTION, stream=True, **REASON)).text
    numbers = [event["summary_index"] for event in events_in(text) if event["type"].endswith("summary_part.done")]
    assert numbers == [0, 1]


def test_whole_arguments(openai: httpx.Client) -> None:
    """Arguments are only in the complete item."""
    text = post(openai, ask("sim-whole-arguments", QUESTION, stream=True)).text
    assert "function_call_arguments" not in text
    assert "17 * 23" in text


def test_plain_frames(openai: httpx.Client) -> None:
    """No frame names its event, and `[DONE]` is the last one."""
    text = post(openai, ask("sim-plain-frames", QUESTION, stream=True)).text
    assert "event:" not in text
    assert text.endswith("data: [DONE]\n\n")
