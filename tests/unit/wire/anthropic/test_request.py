"""The body of a message request: turns, native blocks, tools, thinking, parameters and cache marks."""

import json
from itertools import pairwise
from typing import Any

import pytest
from signalbox.core.messages import (
    AssistantMessage,
    FilePart,
    ImagePart,
    JsonObject,
    Message,
    Native,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from signalbox.core.params import Choice, ForcedTool, Params, Reasoning, Routing
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.anthropic.request import body_of, unsupported_params

ASK = (UserMessage("Hi"),)
OLD, NEW, OTHER = "claude-sonnet-4-5", "claude-opus-4-8", "MiniMax-M2.7"
TOOL = ToolSchema("f", "Does f.", {"type": "object", "properties": {}})
HI: JsonObject = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
MARK = {"type": "ephemeral"}


def body(request: Request, *, stream: bool = True) -> dict[str, Any]:
    """Write a body and read it again."""
    return json.loads(body_of(request, stream=stream))


def with_params(model: str = OLD, **params: Any) -> dict[str, Any]:
    """Write a body with these parameters; return the fields that they add."""
    sent = body(Request(model, ASK, params=Params(**params)))
    return {k: v for k, v in sent.items() if k not in ("model", "messages", "stream", "cache_control")}


def turns(*messages: Message) -> list[dict[str, Any]]:
    """Write messages for a model that gets no cache marks."""
    return body(Request(OTHER, messages))["messages"]


def text(words: str) -> dict[str, Any]:
    """Write a text block."""
    return {"type": "text", "text": words}


def test_a_minimal_request() -> None:
    """The limit that the API requires is added; nothing else is, except the cache mark for Claude."""
    assert body(Request(OTHER, ASK), stream=False) == {
        "model": OTHER,
        "max_tokens": 16_384,
        "stream": False,
        "messages": [HI],
    }
    assert body(Request(OLD, ASK)) == {
        "model": OLD,
        "max_tokens": 32_000,
        "stream": True,
        "cache_control": MARK,
        "messages": [HI],
    }


def test_system_messages() -> None:
    """Leading system messages are `system`; a later one is text of the user."""
    sent = body(Request(OTHER, (SystemMessage("A"), SystemMessage("B"), *ASK, SystemMessage("C"))))
    assert sent["system"] == [text("A"), text("B")]
    assert sent["messages"] == [{"role": "user", "content": [text("Hi"), text("C")]}]


def test_results_come_first_in_the_users_turn() -> None:
    """Consecutive messages are one turn; results precede texts, and a failed one says so."""
    calls = (ToolCall("a", "f", {"x": 1}), ToolCall("b", "f", {}))
    sent = turns(
        UserMessage("1"),
        UserMessage("2"),
        AssistantMessage("Wait.", calls),
        ToolMessage("a", "f", "ok"),
        UserMessage("(images)"),
        ToolMessage("b", "f", "", is_error=True, images=(ImagePart("https://i.example/1.png"),)),
    )
    image = {"type": "image", "source": {"type": "url", "url": "https://i.example/1.png"}}
    assert sent == [
        {"role": "user", "content": [text("1"), text("2")]},
        {
            "role": "assistant",
            "content": [
                text("Wait."),
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "ok"},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [text("(no output)"), image],
                    "is_error": True,
                },
                text("(images)"),
            ],
        },
    ]


def test_blank_texts_are_left_out() -> None:
    """The API rejects blank texts, empty turns, and a conversation that begins with the assistant (quirk C4)."""
    sent = turns(
        AssistantMessage("Hello"), UserMessage(" "), AssistantMessage(" "), UserMessage(""), AssistantMessage("B")
    )
    assert [(turn["role"], [block["text"] for block in turn["content"]]) for turn in sent] == [
        ("user", ["(The beginning of this conversation is not shown.)"]),
        ("assistant", ["Hello"]),
        ("user", ["(empty)"]),
        ("assistant", ["B"]),
    ]
    assert turns(UserMessage("")) == [{"role": "user", "content": [text("(empty)")]}]


ITEMS: tuple[JsonObject, ...] = (
    {"signature": "c2ln", "type": "thinking", "thinking": ""},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "text", "text": "Wait.", "citations": None},
    {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1.0}, "caller": {"type": "direct"}},
)


def test_a_native_turn_goes_back_unchanged() -> None:
    """The blocks of the API are sent byte for byte; blank ones, which it rejects, are left out."""
    blank: tuple[JsonObject, ...] = ({"type": "text", "text": "\n"}, {"type": "thinking", "thinking": ""})
    message = AssistantMessage(
        "Other", (ToolCall("a", "f", {}),), native=Native("anthropic-messages", (*blank, *ITEMS))
    )
    sent = body_of(Request(OTHER, (*ASK, message, ToolMessage("a", "f", "ok"))), stream=True)
    assert json.dumps([*ITEMS], separators=(",", ":")).encode() in sent


def test_the_turn_of_another_api_is_written_as_text_and_calls() -> None:
    """Items of another dialect are not sent, and neither is reasoning."""
    message = AssistantMessage("Wait.", native=Native("gemini", ITEMS), reasoning="Hm.", reasoning_field="reasoning")
    assert turns(*ASK, message)[1] == {"role": "assistant", "content": [text("Wait.")]}


def test_images_and_files() -> None:
    """Data URLs become base64, addresses stay; text stands for what the API cannot read."""
    parts = (
        ImagePart("data:image/jpg;base64,aGk="),
        ImagePart("data:image/avif;base64,aGk="),
        FilePart("a.pdf", "data:application/pdf;base64,aGk="),
        FilePart("a.txt", "data:text/markdown;base64,aGk="),
        FilePart("", "https://f.example/a.pdf"),
        FilePart("a.zip", "data:application/zip;base64,AAA="),
    )
    jpeg, avif, pdf, markdown, address, archive = turns(UserMessage(parts))[0]["content"]
    assert jpeg["source"] == {"type": "base64", "media_type": "image/jpeg", "data": "aGk="}
    assert avif == text("(An image of type image/avif was here, which this model cannot read.)")
    assert pdf["source"] == {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
    assert pdf["title"] == "a.pdf"
    assert markdown["source"] == {"type": "text", "media_type": "text/plain", "data": "hi"}
    assert address == {"type": "document", "source": {"type": "url", "url": "https://f.example/a.pdf"}}
    assert archive == text("(The file a.zip was here, which this model cannot read.)")


@pytest.mark.parametrize(
    ("choice", "parallel", "sent"),
    [
        (None, None, None),
        ("auto", None, {"type": "auto"}),
        ("none", False, {"type": "none"}),
        ("required", True, {"type": "any", "disable_parallel_tool_use": False}),
        (ForcedTool("f"), None, {"type": "tool", "name": "f"}),
        (None, False, {"type": "auto", "disable_parallel_tool_use": True}),
    ],
)
def test_tool_choice(choice: Choice | None, parallel: bool | None, sent: dict[str, Any] | None) -> None:
    """Each choice has its word; parallel calls are part of it."""
    request = Request(OTHER, ASK, tools=(TOOL,), tool_choice=choice, params=Params(parallel=parallel))
    assert body(request).get("tool_choice") == sent
    assert "tool_choice" not in body(Request(OTHER, ASK, tool_choice=choice, params=Params(parallel=parallel)))


def test_tools() -> None:
    """A schema has the type that the API requires; no description is sent as no field."""
    tools = (TOOL, ToolSchema("g", "", {}, strict=True))
    assert body(Request(OTHER, ASK, tools=tools))["tools"] == [
        {"name": "f", "description": "Does f.", "input_schema": {"type": "object", "properties": {}}},
        {"name": "g", "input_schema": {"type": "object"}, "strict": True},
    ]


def test_sampling() -> None:
    """Temperature excludes `top_p`; a thinking model and the newest ones get no sampling parameters."""
    sampling = {"temperature": 1.5, "top_p": 0.9, "top_k": 5}
    assert with_params(**sampling, max_tokens=9) == {"max_tokens": 9, "temperature": 1.0, "top_k": 5}
    assert with_params(top_p=0.9, max_tokens=9) == {"max_tokens": 9, "top_p": 0.9}
    assert with_params(NEW, **sampling, max_tokens=9) == {"max_tokens": 9}
    assert set(with_params(**sampling, reasoning=Reasoning(effort="low"))) == {"max_tokens", "thinking"}


def test_further_parameters() -> None:
    """Stop sequences, the user, a schema and fields of the API are sent; fields that it does not know are not."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    format_ = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    extra = {"user": "u", "service_tier": "auto", "guided_regex": "a+"}
    assert with_params(max_tokens=9, stop=("\n", "END"), format=format_, extra=extra) == {
        "max_tokens": 9,
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
        "stop_sequences": ["END"],
        "metadata": {"user_id": "u"},
        "service_tier": "auto",
    }


def test_unsupported_parameters() -> None:
    """What the API does not have, or rejects beside others, is reported."""
    params = Params(temperature=0.5, top_p=0.5, seed=1, format={"type": "json_object"}, routing=Routing(), max_tokens=5)
    assert unsupported_params(params) == {"top_p", "seed", "format", "routing"}
    thinking = Params(temperature=0.5, top_k=1, reasoning=Reasoning(effort="low"), metadata={"user_id": "u"})
    assert unsupported_params(thinking) == {"temperature", "top_k"}
    assert unsupported_params(Params(metadata={"a": "b"}, format={"type": "text"})) == {"metadata"}
    others = Params(logprobs=True, logit_bias={"1": 1.0}, min_p=0.1, fallbacks=("a",), modalities=("text",))
    assert unsupported_params(others) == {"logprobs", "logit_bias", "min_p", "fallbacks", "modalities"}


def test_cache_marks() -> None:
    """Claude's tools, instructions and conversation are marked, unless the client marks blocks itself."""
    messages = (SystemMessage("A"), *ASK)
    sent = body(Request(OLD, messages, tools=(TOOL, TOOL)))
    assert ["cache_control" in tool for tool in sent["tools"]] == [False, True]
    assert sent["system"] == [{**text("A"), "cache_control": MARK}]
    assert sent["cache_control"] == MARK
    assert sent["messages"] == [HI]
    own: JsonObject = {"type": "ephemeral", "ttl": "1h"}
    sent = body(Request(OLD, (SystemMessage("A"), UserMessage((TextPart("Hi", own),))), tools=(TOOL,)))
    assert json.dumps(sent).count("cache_control") == 1
    assert "cache_control" not in json.dumps(body(Request(OTHER, messages, tools=(TOOL,))))


def test_a_request_begins_with_the_bytes_of_the_one_before() -> None:
    """Request n is a prefix of request n+1 up to its last message, in a loop and over questions."""
    native = Native("anthropic-messages", ITEMS)
    messages: tuple[Message, ...] = (
        SystemMessage("A"),
        *ASK,
        AssistantMessage("Wait.", (ToolCall("a", "f", {"x": 1}),), native=native),
        ToolMessage("a", "f", "ok"),
        AssistantMessage("Done."),
        UserMessage("More?"),
    )
    bodies = [body_of(Request(OLD, messages[:count], tools=(TOOL,)), stream=True) for count in (2, 4, 6)]
    for earlier, later in pairwise(bodies):
        assert later.startswith(earlier.removesuffix(b"]}"))
