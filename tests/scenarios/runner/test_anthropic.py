"""A program calls a model over Anthropic's API: endings, errors, the API key, and turns of other APIs."""

import json
from typing import Any

import pytest
from signalbox import RunError, Runner, Upstream, tool
from signalbox.core.messages import AssistantMessage, JsonObject, Native, ToolCall, ToolMessage, UserMessage
from signalbox.runner.answer import Answer

from tests.scenarios.runner.model import refused
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, sends

pytestmark = pytest.mark.anyio
KEY = "canary-5f2d9c"
TEXT = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi."}}
STOP = {"type": "message_stop"}


def stream(*events: dict[str, Any]) -> Script:
    """Reply with these events."""
    return sends(b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events))


def ends(reason: str) -> dict[str, Any]:
    """End the message for this reason."""
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}}


async def ask(*replies: Script, messages: Any = "Hi") -> tuple[Answer, list[dict[str, Any]]]:
    """Run a model without tools, and return the answer and the requests."""
    with ScriptedUpstream(*replies, refused, path="") as server:
        upstream = Upstream(server.base_url, KEY, dialect="anthropic-messages")
        try:
            answer = await Runner(upstream, "claude-sonnet-4-6", messages).answer()
        except RunError as error:
            answer = error.answer
    return answer, [asked.body for asked in server.asked]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("end_turn", None),
        ("stop_sequence", None),
        ("max_tokens", "LENGTH"),
        ("model_context_window_exceeded", "LENGTH"),
        ("something_new", "STOP_UNKNOWN"),
        ("refusal", "CONTENT_FILTER"),
    ],
)
async def test_each_stop_reason_has_its_outcome(reason: str, code: str | None) -> None:
    """Only the first two are successful; every other ending has a separate code, and keeps the text."""
    answer, _ = await ask(stream(TEXT, ends(reason), STOP))
    assert (answer.text, answer.code) == ("Hi.", code)


async def test_a_paused_turn_is_continued() -> None:
    """The second request ends with the turn as the API sent it."""
    answer, (first, second) = await ask(stream(TEXT, ends("pause_turn"), STOP), stream(TEXT, ends("end_turn"), STOP))
    assert (answer.status, answer.code) == ("complete", None)
    assert len(second["messages"]) == len(first["messages"]) + 1
    assert [(block["type"], block["text"]) for block in second["messages"][-1]["content"]] == [("text", "Hi.")]


async def test_a_model_that_pauses_again_and_again() -> None:
    """`max_steps` ends it."""
    answer, requests = await ask(*[stream(TEXT, ends("pause_turn"), STOP)] * 9)
    assert (answer.status, answer.code, len(requests)) == ("interrupted", "TURN_PAUSED", 8)


async def rejects(exchange: Exchange) -> None:
    """Answer with an error that quotes the key."""
    error = {"type": "authentication_error", "message": f"invalid x-api-key: {KEY}"}
    await exchange.whole(401, json.dumps({"type": "error", "error": error}).encode())


async def test_the_key_is_in_no_error() -> None:
    """An error that quotes the key does not show it."""
    answer, _ = await ask(rejects)
    assert answer.code == "UPSTREAM_AUTH"
    assert KEY not in repr(answer)


async def test_an_error_in_the_stream_is_retried() -> None:
    """An overloaded server ends the stream with an error; the request is repeated."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    answer, requests = await ask(stream(error), stream(TEXT, ends("end_turn"), STOP))
    assert (answer.text, answer.code, len(requests)) == ("Hi.", None, 2)
    assert requests[0] == requests[1]


@pytest.mark.parametrize("dialect", ["gemini", "openai-responses", "anthropic-messages"])
async def test_a_turn_of_another_model_is_told_without_reasoning(dialect: str) -> None:
    """After a switch of the model, a native turn is sent as text and calls; its items are not."""
    items: tuple[JsonObject, ...] = ({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},)
    call = ToolCall("c1", "f", {"x": 1}, "c1")
    messages = [
        UserMessage("Hi"),
        AssistantMessage("Wait.", (call,), reasoning="Hm.", model="other/model", native=Native(dialect, items)),
        ToolMessage("c1", "f", "ok"),
    ]
    answer, (request,) = await ask(stream(TEXT, ends("end_turn"), STOP), messages=messages)
    assert answer.text == "Hi."
    assert "Hm." not in json.dumps(request)


async def test_a_failed_call_is_sent_as_an_error() -> None:
    """The result of a tool that raises has `is_error`; the result of another one has not."""

    @tool
    def fails() -> str:
        """Fail."""
        raise ValueError("no")

    @tool
    def works() -> str:
        """Work."""
        return "yes"

    calls = [
        {"type": "content_block_start", "index": at, "content_block": {"type": "tool_use", "id": name, "name": name}}
        for at, name in enumerate(("fails", "works"))
    ]
    with ScriptedUpstream(
        stream(*calls, ends("tool_use"), STOP), stream(TEXT, ends("end_turn"), STOP), path=""
    ) as server:
        upstream = Upstream(server.base_url, KEY, dialect="anthropic-messages")
        await Runner(upstream, "claude-sonnet-4-6", "Hi", tools=[fails, works]).answer()
    results = server.asked[1].body["messages"][-1]["content"]
    assert [(result["tool_use_id"], result.get("is_error")) for result in results] == [("fails", True), ("works", None)]
