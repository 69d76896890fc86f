"""Runs at Gemini's API: ids of calls, blocked prompts, malformed calls, limits, code and a change of the model."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from signalbox import Answer, RunError, Runner, Upstream, user
from signalbox.core.messages import AssistantMessage, Message, ToolCall, ToolMessage

from tests.scenarios.runner.model import Model, refused
from tests.support.fakes import make_tool
from tests.support.scripted_upstream import Exchange, Script, ScriptedUpstream, sends
from tests.unit.wire.gemini.responses import frame, response

pytestmark = pytest.mark.anyio
SKIP = "skip_thought_signature_validator"


@contextmanager
def gemini_that(*replies: Script) -> Iterator[Model]:
    """Serve these replies in order, at Gemini's paths."""
    with ScriptedUpstream(*replies, refused, path="") as server:
        yield Model(server, Upstream(server.base_url, "key", dialect="gemini"))


def replies(*values: dict[str, Any]) -> Script:
    """Stream these responses."""
    return sends(*map(frame, values))


def call(name: str, arguments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Build a part with a call."""
    return {"functionCall": {"name": name, "args": arguments, **fields}}


async def answer_of(model: Model, messages: str | list[Message] = "Hi", name: str = "gemini-3-flash") -> Answer:
    """Run to the end with one tool."""
    tool = make_tool("look", lambda arguments, _: f"saw {arguments.get('at')}")
    return await Runner(model.upstream, name, messages, tools=[tool]).answer()


async def test_calls_keep_their_ids_and_their_order() -> None:
    """Results name the ids that the API gave, in the order of the calls; a call without an id gets none."""
    said = [
        {**call("look", {"at": 1}, id="fc-1"), "thoughtSignature": "c2ln"},
        call("look", {"at": 2}, id="fc-2"),
        call("look", {"at": 3}),
    ]
    with gemini_that(
        replies(response(*said, finish="STOP")), replies(response({"text": "Ok."}, finish="STOP"))
    ) as model:
        answer = await answer_of(model)
    assert (answer.status, answer.text) == ("complete", "Ok.")
    _, turn, results = model.requests[1]["contents"]
    assert turn == {"role": "model", "parts": said}
    made = [part["functionResponse"] for part in results["parts"]]
    assert [(one.get("id"), one["name"]) for one in made] == [("fc-1", "look"), ("fc-2", "look"), (None, "look")]
    assert [f"saw {number}" in json.dumps(one["response"]["output"]) for number, one in enumerate(made, 1)] == [
        True
    ] * 3


async def test_a_blocked_prompt_ends_the_run() -> None:
    """The run ends as filtered, with a sentence that names the reason, and is not retried."""
    blocked = replies({"promptFeedback": {"blockReason": "BLOCKLIST"}})
    expected = pytest.raises(RunError, match=r"blocked the prompt .* \(BLOCKLIST\)")
    with gemini_that(blocked) as model, expected as caught:
        await answer_of(model)
    assert (caught.value.answer.status, len(model.requests)) == ("content_filter", 1)


async def test_a_malformed_call_is_corrected() -> None:
    """After a malformed call, the model is called again with an instruction (quirk A13)."""
    bad = replies(response(finish="MALFORMED_FUNCTION_CALL"))
    with gemini_that(bad, replies(response({"text": "Ok."}, finish="STOP"))) as model:
        answer = await answer_of(model)
    assert (answer.status, answer.text, len(model.requests)) == ("complete", "Ok.", 2)


async def test_a_rate_limit_is_waited_for() -> None:
    """The delay of `RetryInfo` is respected."""
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.1s"}]
    error = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow.", "details": details}}

    async def limited(exchange: Exchange) -> None:
        await exchange.whole(429, json.dumps([error]).encode())

    with gemini_that(limited, replies(response({"text": "Ok."}, finish="STOP"))) as model:
        answer = await answer_of(model)
    assert (answer.status, len(model.requests)) == ("complete", 2)


async def test_text_after_the_first_stop_is_read() -> None:
    """With code execution, the answer continues after a first STOP (recorded: rig)."""
    code = {"executableCode": {"language": "PYTHON", "code": "print(1)"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}}
    values = [response(code, finish="STOP"), response(result), response({"text": "One."}, finish="STOP")]
    with gemini_that(replies(*values)) as model:
        answer = await answer_of(model)
    assert (answer.status, answer.text) == ("complete", "One.")


@pytest.mark.parametrize(("name", "signature"), [("gemini-3-flash", SKIP), ("gemini-2.5-flash", None)])
async def test_a_conversation_of_another_model_continues(name: str, signature: str | None) -> None:
    """Calls of another model are sent without their ids; Gemini 3 requires a signature on the first one."""
    history: list[Message] = [
        user("Look."),
        AssistantMessage("", (ToolCall("toolu_1", "look", {"at": 1}, "toolu_1"),), reasoning="Hm.", model="claude"),
        ToolMessage("toolu_1", "look", "saw 1"),
        AssistantMessage("I saw 1.", model="claude"),
        user("And now?"),
    ]
    with gemini_that(replies(response({"text": "Ok."}, finish="STOP"))) as model:
        answer = await answer_of(model, history, name)
    assert answer.status == "complete"
    body = json.dumps(model.requests[0]["contents"])
    assert "toolu_1" not in body
    assert "Hm." not in body
    (made,) = (part for turn in model.requests[0]["contents"] for part in turn["parts"] if "functionCall" in part)
    assert made.get("thoughtSignature") == signature


async def test_streamed_arguments_are_executed() -> None:
    """A call whose arguments arrive in pieces is executed once it is whole."""
    pieces = [
        response({"functionCall": {"name": "look", "willContinue": True}, "thoughtSignature": "c2ln"}),
        response({"functionCall": {"partialArgs": [{"jsonPath": "$.at", "stringValue": "Bos"}], "willContinue": True}}),
        response({"functionCall": {"partialArgs": [{"jsonPath": "$.at", "stringValue": "ton"}], "willContinue": True}}),
        response({"functionCall": {}}, finish="STOP"),
    ]
    with gemini_that(replies(*pieces), replies(response({"text": "Ok."}, finish="STOP"))) as model:
        await answer_of(model)
    assert model.requests[1]["contents"][1]["parts"] == [{**call("look", {"at": "Boston"}), "thoughtSignature": "c2ln"}]
