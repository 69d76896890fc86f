"""The request body contains exactly what was set, in the shape that every provider accepts."""

import json
from typing import Any

import pytest
from signalbox.core.messages import (
    NO_REASONING,
    AssistantMessage,
    FilePart,
    ImagePart,
    Message,
    ReasoningDetail,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import Params, Reasoning, Routing
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.openrouter.request import body_of

ASK = (UserMessage("Hi"),)
TOOL = ToolSchema("f", "Does f.", {"type": "object", "properties": {}})


def body(request: Request, *, stream: bool = True, routed: bool = True) -> dict[str, Any]:
    """Write a body and read it again."""
    return json.loads(body_of(request, stream=stream, routed=routed))


def message(value: Message) -> dict[str, Any]:
    """Write one message."""
    return body(Request("a/b", (value,)))["messages"][0]


def test_nothing_is_added() -> None:
    """A minimal request has model, messages and stream only."""
    assert body(Request("a/b", ASK)) == {
        "model": "a/b",
        "messages": [{"role": "user", "content": "Hi"}],
        "stream": True,
    }
    assert body(Request("a/b", ASK), stream=False)["stream"] is False


def test_parameters_are_sent_unchanged() -> None:
    """Set parameters are forwarded under their own name, unchanged: zeros, lists and objects too."""
    params: dict[str, Any] = {"temperature": 0, "seed": 2**70, "stop": ["\n", ","], "logprobs": False}
    given = Params(**{**params, "stop": ("\n", ",")}, routing=Routing({"order": ["x"]}), extra={"zdr": True})
    params |= {"provider": {"order": ["x"]}, "zdr": True}
    sent = body(Request("a/b", ASK, params=given))
    assert {name: sent[name] for name in params} == params
    assert set(sent) == {"model", "messages", "stream", *params}


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ("gpt-4o", {"max_tokens", "temperature"}),
        ("gpt-5-mini", {"max_completion_tokens", "reasoning_effort"}),
        ("gpt-5.4", {"max_completion_tokens", "reasoning_effort"}),
        ("o4-mini", {"max_completion_tokens", "reasoning_effort"}),
        ("gpt-oss-120b", {"max_tokens", "temperature", "reasoning_effort"}),
        ("llama3.2", {"max_tokens", "temperature", "reasoning_effort"}),
    ],
)
def test_parameters_of_openai_models(model: str, sent: set[str]) -> None:
    """OpenAI's own models are sent what they accept, under the name that they accept; OpenRouter translates itself."""
    params = Params(max_tokens=50, temperature=0.5, reasoning=Reasoning(effort="low"))
    common = {"model", "messages", "stream", "stream_options"}
    assert body(Request(model, ASK, params=params), routed=False).keys() - common == sent
    assert body(Request(model, ASK, params=params)).keys() - common == {"max_tokens", "temperature", "reasoning"}


def test_tools_and_choice() -> None:
    """Tools are sent in the function shape, without `strict`; the choice is sent if there is one."""
    sent = body(Request("a/b", ASK, tools=(TOOL,), tool_choice="auto"))
    function = {"name": "f", "description": "Does f.", "parameters": {"type": "object", "properties": {}}}
    assert sent["tools"] == [{"type": "function", "function": function}]
    assert sent["tool_choice"] == "auto"
    assert "tool_choice" not in body(Request("a/b", ASK, tools=(TOOL,)))


@pytest.mark.parametrize("seed", [7, 2**70, float("inf")])
@pytest.mark.parametrize("most", [7, 2**70])
def test_both_writers_write_equal_tools(seed: float, most: int) -> None:
    """Tools are written the same by both writers, and the second time as the first."""
    tools = (ToolSchema("f", "Does f.", {"maximum": most}), TOOL)
    first, second = (body(Request("a/b", ASK, tools=tools, params=Params(extra={"seed": seed}))) for _ in range(2))
    assert [tool["function"]["parameters"] for tool in first["tools"]] == [{"maximum": most}, TOOL.parameters]
    assert first == second


def test_no_choice_without_tools() -> None:
    """`tool_choice` without tools is a 400 at xAI (quirk C3)."""
    assert not {"tools", "tool_choice"} & set(body(Request("a/b", ASK, tool_choice="none")))


def test_session_and_usage_by_server() -> None:
    """OpenRouter accepts a session and always reports usage; other servers report it on request."""
    request = Request("a/b", ASK, session_id="chat-1")
    assert body(request)["session_id"] == "chat-1"
    assert "stream_options" not in body(request)
    other = body(request, routed=False)
    assert "session_id" not in other
    assert other["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body(request, routed=False, stream=False)
    assert "session_id" not in body(Request("a/b", ASK))


def test_parts_of_content() -> None:
    """Text, images and files are sent in their shapes; a detail only if set."""
    parts = (
        TextPart("Look"),
        ImagePart("https://x/y.png"),
        ImagePart("data:image/png;base64,AA", "low"),
        FilePart("a.pdf", "data:,x"),
    )
    assert message(UserMessage(parts))["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "low"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:,x"}},
    ]
    assert message(SystemMessage((TextPart("Be brief"),)))["content"] == [{"type": "text", "text": "Be brief"}]


CALL = ToolCall("abc123def", "f", {"q": "é", "n": 1.0})


@pytest.mark.parametrize("content", ["", "\n\n", "  "])
def test_content_is_null_beside_calls(content: str) -> None:
    """Blank text beside calls is rejected by several providers, so it is null (quirk C4)."""
    assert message(AssistantMessage(content, (CALL,))) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "abc123def", "type": "function", "function": {"name": "f", "arguments": '{"q":"é","n":1.0}'}}
        ],
    }


def test_text_before_a_call_is_sent_back() -> None:
    """The model's text before a call is sent back unchanged, including outer spaces."""
    assert message(AssistantMessage("Let me see. ", (CALL,)))["content"] == "Let me see. "


def test_arguments_of_any_size_can_be_written() -> None:
    """Integers beyond 64 bits are written."""
    call = ToolCall("abc123def", "f", {"n": 10**40})
    written = message(AssistantMessage("", (call,)))["tool_calls"][0]["function"]["arguments"]
    assert written == '{"n":' + "1" + "0" * 40 + "}"


def test_details_are_sent_back_unchanged_and_alone() -> None:
    """Reasoning details keep their keys, order and values; plain reasoning is not sent beside them."""
    raw = {"type": "reasoning.text", "text": "é", "signature": None, "index": 0, "extra": [1, 1.0, None]}
    sent = message(AssistantMessage("", (CALL,), reasoning="é", reasoning_details=(ReasoningDetail(raw),)))
    assert json.dumps(sent["reasoning_details"]) == json.dumps([raw])
    assert "reasoning" not in sent


@pytest.mark.parametrize(
    ("field", "name"), [("reasoning_content", "reasoning_content"), ("reasoning", "reasoning"), (None, "reasoning")]
)
def test_plain_reasoning_is_sent_back_in_its_field(field: str | None, name: str) -> None:
    """A provider gets its reasoning back in the field it used (quirk B5)."""
    assert message(AssistantMessage("", (CALL,), reasoning="Hm", reasoning_field=field))[name] == "Hm"


def test_a_turn_without_reasoning_states_it() -> None:
    """A provider that wants the field on every step gets an empty one, under DeepSeek's name (quirk B5)."""
    sent = message(AssistantMessage("", (CALL,), reasoning_field=NO_REASONING))
    assert sent["reasoning_content"] == ""
    assert "reasoning" not in sent


def test_results() -> None:
    """A result is one string under its call's id; an empty one says so (quirk C4)."""
    assert message(ToolMessage("abc123def", "f", "ok")) == {
        "role": "tool",
        "tool_call_id": "abc123def",
        "name": "f",
        "content": "ok",
    }
    assert message(ToolMessage("abc123def", "f", ""))["content"] == "(no output)"
