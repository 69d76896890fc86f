"""A chat completions request as an Ask."""

from typing import Any

import pytest
from signalbox.core.ask import Ask, Position
from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.core.messages import (
    AssistantMessage,
    FilePart,
    ImagePart,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import ForcedTool, Reasoning, Routing
from signalbox.core.parts import ToolSchema
from signalbox.core.tools import Tool
from signalbox.intakes.chat_completions import ask_of, body_of
from signalbox.intakes.intake import OfferPolicy, Tools
from signalbox.tools.calculate import calculate
from signalbox.tools.search_web import search_web

CALCULATE = calculate()
SEARCH = search_web(None, "no search is set up")
HELLO = {"role": "user", "content": "Hello!"}
PRICE = {
    "type": "function",
    "function": {"name": "price", "description": "A price.", "parameters": {"type": "object"}, "strict": True},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "price", "arguments": '{"item": "screw"}'}}


def asked(
    messages: list[dict[str, Any]] | None = None,
    *,
    headers: dict[str, str] | None = None,
    policy: OfferPolicy = "auto",
    **fields: Any,
) -> Ask:
    """Read a request with one message, unless others are given."""
    value: dict[str, Any] = {"model": "openai/sim", "messages": messages or [HELLO], **fields}
    return ask_of(body_of(value), Tools({"calculate": CALCULATE, "search_web": SEARCH}, policy), headers or {})


def refused(messages: list[dict[str, Any]] | None = None, **fields: Any) -> RequestError:
    """Return the error of a request that is rejected."""
    with pytest.raises(RequestError) as caught:
        asked(messages, **fields)
    return caught.value


def names(tools: tuple[Tool, ...]) -> list[str]:
    """Return the names of tools."""
    return [tool.spec.name for tool in tools]


def test_messages_of_every_role() -> None:
    """Developer messages are instructions, parts stay parts, and results know their tool's name."""
    parts = [
        {"type": "text", "text": "See", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QQ=="}},
    ]
    ask = asked(
        [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": parts, "name": "Ann"},
            {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning": "forged", "annotations": []},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "3"}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "assistant", "content": None, "refusal": "No again."},
            HELLO,
        ]
    )
    assert ask.messages == (
        SystemMessage((TextPart("Be brief."),)),
        UserMessage(
            (
                TextPart("See", {"type": "ephemeral"}),
                ImagePart("https://example.org/a.png", "low"),
                FilePart("a.pdf", "data:application/pdf;base64,QQ=="),
            )
        ),
        AssistantMessage(calls=(ToolCall("call_1", "price", {"item": "screw"}),)),
        ToolMessage("call_1", "price", "3"),
        AssistantMessage("No."),
        AssistantMessage("No again."),
        UserMessage("Hello!"),
    )


def test_parameters_have_neutral_names() -> None:
    """Listed fields are translated; all others are forwarded under their own names, except those that are null."""
    params = asked(
        max_tokens=5,
        max_completion_tokens=7,
        stop="END",
        response_format={"type": "json_object"},
        parallel_tool_calls=False,
        reasoning_effort="high",
        provider={"require_parameters": True},
        models=["a/b"],
        seed=1,
        user="u-1",
        store=False,
        verbosity="low",
        prediction={"type": "content", "content": "x"},
        service_tier=None,
    ).params
    assert (params.max_tokens, params.stop, params.format) == (7, ("END",), {"type": "json_object"})
    assert (params.parallel, params.seed, params.fallbacks) == (False, 1, ("a/b",))
    assert params.reasoning == Reasoning(effort="high")
    assert params.routing == Routing({"require_parameters": True}, requires_all_params=True)
    prediction = {"type": "content", "content": "x"}
    assert params.extra == {"user": "u-1", "store": False, "verbosity": "low", "prediction": prediction}


def test_whose_a_tool_is() -> None:
    """Functions are the client's; `signalbox:NAME` and the header ask for ours; on equal names the client's wins."""
    ask = asked(tools=[PRICE, {"type": "signalbox:calculate"}], stream=True)
    assert ask.client_tools == (ToolSchema("price", "A price.", {"type": "object"}, strict=True),)
    assert (names(ask.tools), ask.streamed_arguments) == (["calculate"], "client")
    assert names(asked(tools=[PRICE], headers={"x-signalbox-tools": "calculate"}).tools) == ["calculate"]
    own = {"type": "function", "function": {"name": "calculate"}}
    ask = asked(tools=[own, {"type": "signalbox:calculate"}])
    assert (names(ask.tools), [one.name for one in ask.client_tools]) == ([], ["calculate"])


@pytest.mark.parametrize(
    ("policy", "fields", "offered"),
    [
        ("auto", {}, ["calculate"]),
        ("auto", {"tools": [PRICE]}, []),
        ("auto", {"tools": []}, []),
        ("auto", {"response_format": {"type": "json_object"}}, []),
        ("auto", {"headers": {"x-signalbox-tools": ""}}, []),
        ("always", {"tools": [PRICE]}, ["calculate"]),
        ("never", {}, []),
        ("never", {"tools": [{"type": "signalbox:calculate"}]}, ["calculate"]),
    ],
)
def test_which_tools_are_offered_unasked(policy: OfferPolicy, fields: dict[str, Any], offered: list[str]) -> None:
    """SIGNALBOX_SERVER_TOOLS decides; a tool that cannot be offered here never is."""
    assert names(asked(policy=policy, **fields).tools) == offered


def test_the_tool_choice() -> None:
    """A choice names a tool of either side."""
    assert asked(tools=[PRICE], tool_choice="required").choice == "required"
    forced = {"type": "function", "function": {"name": "price"}}
    assert asked(tools=[PRICE], tool_choice=forced).choice == ForcedTool("price")
    ours = {"type": "signalbox:calculate"}
    assert asked(tools=[ours], tool_choice=ours).choice == ForcedTool("calculate")
    assert refused(tools=[PRICE], tool_choice=ours).field == "tool_choice"
    assert refused(tools=[], tool_choice="required").field == "tool_choice"


def test_only_allowed_tools_are_offered() -> None:
    """OpenAI's `allowed_tools` names some of the tools of both kinds; its mode is the choice among them."""
    stock = {"type": "function", "function": {"name": "stock"}}
    allowed = [{"type": "function", "function": {"name": "price"}}, {"type": "signalbox:calculate"}]

    def choosing(mode: str, tools: list[Any]) -> dict[str, Any]:
        return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}

    both = [PRICE, stock, {"type": "signalbox:calculate"}]
    ask = asked(tools=both, tool_choice=choosing("required", allowed))
    assert ([tool.name for tool in ask.client_tools], names(ask.tools), ask.choice) == (
        ["price"], ["calculate"], "required",
    )  # fmt: skip
    ask = asked(tools=both, tool_choice=choosing("auto", allowed[:1]))
    assert ([tool.name for tool in ask.client_tools], names(ask.tools), ask.choice) == (["price"], [], "auto")
    for wrong, field in (
        (choosing("auto", [*allowed, {"type": "function", "function": {"name": "x"}}]), "allowed_tools.tools.2"),
        (choosing("auto", []), "allowed_tools.tools"),
        (choosing("none", allowed), "allowed_tools.mode"),
        (choosing("auto", [{"type": "custom", "custom": {"name": "x"}}]), "allowed_tools.tools.0.type"),
        ({"type": "allowed_tools"}, "allowed_tools"),
    ):
        assert refused(tools=both, tool_choice=wrong).field == f"tool_choice.{field}"


def test_custom_tools_are_named_as_not_supported() -> None:
    """A tool whose input is free text has no schema that other providers accept."""
    custom = {"type": "custom", "custom": {"name": "grep"}}
    for name, value, field in (("tools", [PRICE, custom], "tools.1.type"), ("tool_choice", custom, "tool_choice.type")):
        error = refused(None, **{name: value})
        assert (error.field, "custom tools, are not supported" in error.message) == (field, True)


def test_what_the_encoder_needs() -> None:
    """The wish for the usage chunk is stored with the run; the conversation comes from a header."""
    ask = asked(stream=True, stream_options={"include_usage": True}, headers={"x-conversation-id": "c-1"})
    assert (ask.protocol, ask.echo) == ("chat-completions", {"include_usage": True})
    assert ask.position == Position("c-1", follows_newest=True)
    assert asked().echo == {}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"n": 2}, "n"),
        ({"model": ""}, "model"),
        ({"audio": {"voice": "x"}}, "audio"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"functions": []}, "functions"),
        ({"temperature": 3}, "temperature"),
        ({"tools": [{"type": "custom"}]}, "tools.0.type"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools.0.function.name"),
        ({"tools": [{"type": "function"}]}, "tools.0.function"),
        ({"tools": [5]}, "tools.0"),
        ({"tools": [PRICE, PRICE]}, "tools.1.function.name"),
        ({"tools": [{"type": "signalbox:nothing"}]}, "tools.0.type"),
        ({"tools": [PRICE, {"type": "signalbox:search_web"}]}, "tools.1.type"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"reasoning": {"effort": "low", "max_tokens": 5}}, None),
        ({"reasoning": {"effort": "low"}, "reasoning_effort": "high"}, None),
    ],
)
def test_what_does_not_fit_is_named(fields: dict[str, Any], field: str | None) -> None:
    """The error names the field; nothing is dropped silently."""
    assert refused(**fields).field == field


def test_unknown_content_is_rejected() -> None:
    """Audio, unknown kinds and ids of uploaded files are never dropped."""
    for part, words in (
        ({"type": "input_audio", "input_audio": {}}, "audio is not supported"),
        ({"type": "video_url"}, "video_url"),
        ({"type": "file", "file": {"file_id": "f-1"}}, "file_id is not supported"),
    ):
        error = refused([{"role": "user", "content": [part]}])
        assert (error.code, words in error.message) == (Code.INVALID_REQUEST, True), error.message
        assert error.field is not None
        assert error.field.startswith("messages.0.content")


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([{"role": "tool", "tool_call_id": "call_1", "content": "3"}], "messages.0.tool_call_id"),
        ([HELLO, {"role": "assistant", "content": "a"}], "messages.1"),
        ([{"role": "user", "content": " "}], "messages.0.content"),
        ([{"role": "function", "name": "f", "content": "3"}], "messages.0"),
        ([HELLO, {"role": "assistant", "audio": {"id": "a"}}], "messages.1.audio"),
    ],
)
def test_messages_that_cannot_stand_there(messages: list[dict[str, Any]], field: str) -> None:
    """The error names the message."""
    error = refused(messages)
    assert error.field is not None
    assert error.field.startswith(field)


def test_a_long_conversation_is_validated_in_parts() -> None:
    """Every message is read, and an invalid one is named by its place in the whole conversation."""
    turns: list[dict[str, Any]] = [HELLO, {"role": "assistant", "content": "a"}] * 1_500
    assert len(asked([*turns, HELLO]).messages) == 3_001
    assert refused([*turns, {"role": "user", "content": 1}, HELLO]).field == "messages.3000.content"
