"""Answers of the Responses API: events, items, endings, usage, models."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.native.openai.conversation import (
    ENCRYPTED,
    SUMMARY,
    answered,
    ask,
    continued,
    events_in,
    post,
)

QUESTION = "Search for replay, then calculate 2+2"
BOTH_WAYS = pytest.mark.parametrize("stream", [True, False])


def kinds(response: dict[str, Any]) -> list[str]:
    """Return the types of the items."""
    return [item["type"] for item in response["output"]]


def test_the_order_of_events(openai: httpx.Client) -> None:
    """Items are added, filled and done one after the other."""
    text = post(openai, ask("sim", "What is 17 * 23?", stream=True, reasoning=SUMMARY, **ENCRYPTED)).text
    names = list(dict.fromkeys(event["type"].removeprefix("response.") for event in events_in(text)))
    assert names == [
        "created",
        "in_progress",
        "keepalive",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "completed",
    ]
    response = openai.post("/responses", json=ask("sim", "Hello", stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["x-request-id"].startswith("req_")


@BOTH_WAYS
@pytest.mark.parametrize("more", [ENCRYPTED, {"store": True}])
def test_a_tool_loop_with_reasoning(openai: httpx.Client, stream: bool, more: dict[str, Any]) -> None:
    """Every step is accepted with its items sent back, until the answer."""
    body = ask("gpt-5.4", QUESTION, stream=stream, reasoning=SUMMARY, **more)
    response, steps = answered(openai, body), [["reasoning", "message"]]
    while "function_call" in kinds(response):
        steps.append(kinds(response))
        body = continued(body, response["output"])
        response = answered(openai, body)
    assert kinds(response) == ["reasoning", "message"]
    assert [step[0] for step in steps] == ["reasoning"] * 3
    assert "391" in response["output"][1]["content"][0]["text"]
    assert response["output"][1]["phase"] == "final_answer"
    assert response["model"] == "gpt-5.4-2026-03-05"


@pytest.mark.parametrize(
    ("fault", "status", "reason", "items"),
    [
        ("sim", "completed", None, ["function_call"]),
        ("sim-length", "incomplete", "max_output_tokens", ["message"]),
        ("sim-length-empty", "incomplete", "max_output_tokens", []),
        ("sim-length-tool", "incomplete", "max_output_tokens", ["function_call"]),
        ("sim-filter", "incomplete", "content_filter", ["message"]),
        ("sim-refusal", "completed", None, ["message"]),
        ("sim-empty", "completed", None, []),
        ("sim-parallel", "completed", None, ["function_call"] * 3),
        ("sim-late-stop", "completed", None, ["function_call"]),
    ],
)
@BOTH_WAYS
def test_endings(
    openai: httpx.Client, fault: str, *, status: str, reason: str | None, items: list[str], stream: bool
) -> None:
    """Each ending has its status and reason; what was cut off is incomplete."""
    response = answered(openai, ask(fault, "What is a tool call?", stream=stream, reasoning={"effort": "none"}))
    assert response["status"] == status
    details = response["incomplete_details"]
    assert (details["reason"] if details else None) == reason
    assert kinds(response) == items
    for item in response["output"][-1:]:
        assert item["status"] == status


def test_a_refusal(openai: httpx.Client) -> None:
    """A refusal is not a text, but a part of type `refusal`."""
    [message] = answered(openai, ask("sim-refusal", "Hi", stream=True, reasoning={"effort": "none"}))["output"]
    assert message["content"] == [{"type": "refusal", "refusal": "I'm sorry, I can't help with that request."}]


def test_an_error_in_the_middle(openai: httpx.Client) -> None:
    """An `error` event and `response.failed` end the stream."""
    *_, error, failed = events_in(post(openai, ask("sim-midstream-error", "Hi", stream=True)).text)
    assert (error["type"], error["error"]["code"]) == ("error", "server_error")
    assert failed["response"]["status"] == "failed"
    assert failed["response"]["error"]["code"] == "server_error"


def test_reasoning_on_request(openai: httpx.Client) -> None:
    """The summary and the encrypted content are sent only if they are asked for."""
    plain = answered(openai, ask("gpt-5-mini", "What is 2+2?"))["output"][0]
    assert plain["summary"] == []
    assert "encrypted_content" not in plain
    told = answered(openai, ask("gpt-5-mini", "What is 2+2?", reasoning=SUMMARY, **ENCRYPTED))["output"][0]
    assert told["summary"][0]["text"]
    assert told["encrypted_content"].startswith("gAAAAAB")
    assert kinds(answered(openai, ask("gpt-4o", "What is 2+2?"))) == ["function_call"]
    assert kinds(answered(openai, ask("gpt-5.4", "What is 2+2?"))) == ["function_call"]


def test_encrypted_content_of_each_event(openai: httpx.Client) -> None:
    """`added` has an incomplete value; `done` and `completed` have two different complete ones."""
    body = ask("sim", "What is 2+2?", stream=True, **ENCRYPTED)
    events = list(events_in(post(openai, body).text))
    added, done = (
        next(event["item"] for event in events if event["type"] == f"response.output_item.{name}")
        for name in ("added", "done")
    )
    completed = events[-1]["response"]["output"]
    assert len({item["encrypted_content"] for item in (added, done, completed[0])}) == 3
    for first in (done, completed[0]):
        answered(openai, continued(body, [first, *completed[1:]]))
    assert post(openai, continued(body, [added, *completed[1:]])).status_code == 400


def test_obfuscation_can_be_turned_off(openai: httpx.Client) -> None:
    """Deltas are padded unless the request forbids it."""
    body = ask("sim", "What is 2+2?", stream=True)
    assert '"obfuscation":' in post(openai, body).text
    assert '"obfuscation":' not in post(openai, {**body, "stream_options": {"include_obfuscation": False}}).text


def test_cached_tokens(openai: httpx.Client) -> None:
    """A long prefix that was sent before is cached, in steps of 128 tokens."""
    body = ask("sim", "Hello " * 2000, "And again")
    first, second = (answered(openai, body)["usage"] for _ in range(2))
    assert first["input_tokens_details"]["cached_tokens"] == 0
    cached = second["input_tokens_details"]["cached_tokens"]
    assert cached > 2000
    assert cached % 128 == 0
    assert second["total_tokens"] == second["input_tokens"] + second["output_tokens"]
    other = answered(openai, {**body, "input": body["input"][::-1]})["usage"]
    assert other["input_tokens_details"]["cached_tokens"] == 0


def test_models(openai: httpx.Client) -> None:
    """The list has the API's format, and each model can be read alone."""
    listed = openai.get("/models").json()
    assert listed["object"] == "list"
    assert {"sim", "gpt-5.4", "gpt-4o"} <= {entry["id"] for entry in listed["data"]}
    assert openai.get("/models/gpt-4o").json() == next(entry for entry in listed["data"] if entry["id"] == "gpt-4o")
    assert openai.get("/models/claude-3").json()["error"]["code"] == "model_not_found"
    assert openai.get("/models", headers={"authorization": ""}).status_code == 401
