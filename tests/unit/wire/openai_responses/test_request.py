"""Writing requests: items, tools, parameters, and the turns of the model as its API sent them."""

import json
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
from signalbox.wire.dialect import Upstream
from signalbox.wire.dialects import DIALECTS
from signalbox.wire.openai_responses.decoder import NAME

RESPONSES = DIALECTS[NAME]
ASK = (UserMessage("Hi"),)
TOOL = ToolSchema("f", "Does f.", {"type": "object", "properties": {"a": {"type": "string"}}})
REASONING: JsonObject = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA="}
CALL: JsonObject = {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c1", "name": "f"}


def written(*messages: Message, model: str = "gpt-5", **fields: Any) -> bytes:
    """Write a body."""
    return RESPONSES.body_of(Request(model, messages or ASK, **fields), stream=True)


def body(*messages: Message, model: str = "gpt-5", **fields: Any) -> dict[str, Any]:
    """Write a body and read it again."""
    return json.loads(written(*messages, model=model, **fields))


def test_nothing_else_is_added() -> None:
    """The upstream stores nothing, and sends reasoning in a form that can be sent back."""
    assert written() == (
        b'{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],'
        b'"input":[{"role":"user","content":"Hi"}]}'
    )


def test_where_requests_go() -> None:
    """The path is the same for all models, and the key is a bearer token."""
    assert RESPONSES.path_of("gpt-5", stream=True) == RESPONSES.path_of("o3", stream=False) == "/responses"
    assert RESPONSES.headers_of(Upstream(RESPONSES, "https://a.example", "key")) == {"authorization": "Bearer key"}
    assert json.loads(RESPONSES.body_of(Request("gpt-5", ASK), stream=False))["stream"] is False


def test_messages_are_items() -> None:
    """System messages keep their place; a turn of the model is its text and its calls."""
    turn = AssistantMessage("Let me see.", (ToolCall("c1", "f", {"a": "ä"}),), reasoning="Hm.")
    sent = body(SystemMessage("Be brief."), *ASK, turn, ToolMessage("c1", "f", ""), SystemMessage("Now."))
    assert sent["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Let me see."},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a":"ä"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "(no output)"},
        {"role": "system", "content": "Now."},
    ]


def test_a_turn_without_text_is_no_item() -> None:
    """Blank text is left out."""
    assert body(*ASK, AssistantMessage(" \n"))["input"] == [{"role": "user", "content": "Hi"}]


def test_images_and_files() -> None:
    """Data URLs and addresses of images are one field, those of files are two."""
    data, web = "data:application/pdf;base64,JVBERi0=", "https://a.example/x.pdf"
    parts = (
        TextPart("See"),
        ImagePart("https://a.example/x.png", "low"),
        ImagePart("data:image/png;base64,AA=="),
        FilePart("x.pdf", data),
        FilePart("x.pdf", web),
    )
    assert body(UserMessage(parts))["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "See"},
                {"type": "input_image", "image_url": "https://a.example/x.png", "detail": "low"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
                {"type": "input_file", "filename": "x.pdf", "file_data": data},
                {"type": "input_file", "file_url": web},
            ],
        }
    ]


def test_blank_arguments_go_back_as_an_object() -> None:
    """A call without arguments may arrive with `""`, which is no JSON and would be rejected (quirks A8, A9)."""
    call: JsonObject = {**CALL, "arguments": ""}
    turn = AssistantMessage("", (ToolCall("c1", "f", {}, "c1"),), native=Native(NAME, (REASONING, call)))
    sent = body(*ASK, turn, ToolMessage("c1", "f", "1", untrusted=False))["input"]
    assert sent[1:3] == [REASONING, {**call, "arguments": "{}"}]


def test_own_items_go_back_unchanged() -> None:
    """Items of this API replace text, calls and reasoning, with their keys in the order of the API."""
    items = (REASONING, {**CALL, "arguments": '{ "a" : 1 }'}, {"type": "later", "x": [1.0, None]})
    turn = AssistantMessage("Text", (ToolCall("c1", "f", {"a": 1}),), native=Native(NAME, items))
    sent = written(*ASK, turn, ToolMessage("c1", "f", "ok"))
    assert json.dumps(list(items), separators=(",", ":")).encode()[1:-1] in sent
    assert b"Text" not in sent


def test_items_of_another_api_are_not_sent() -> None:
    """A turn of another dialect is sent as text and calls."""
    turn = AssistantMessage("Text", native=Native("gemini", ({"text": "Text", "thoughtSignature": "x"},)))
    assert body(*ASK, turn)["input"][1:] == [{"role": "assistant", "content": "Text"}]


def test_reasoning_that_only_the_server_could_read_is_left_out() -> None:
    """With `store: false`, an id alone refers to nothing; then the call has no id that refers to its reasoning."""
    plain: JsonObject = {"type": "reasoning", "id": "rs_2", "content": [{"type": "reasoning_text", "text": "Hm."}]}
    unreadable: JsonObject = {"type": "reasoning", "id": "rs_3", "summary": [{"text": "Hm."}], "content": None}
    search: JsonObject = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    turn = AssistantMessage("", native=Native(NAME, (REASONING, plain, unreadable, search, CALL)))
    without_id = {name: value for name, value in CALL.items() if name != "id"}
    assert body(*ASK, turn)["input"][1:] == [REASONING, plain, search, without_id]


def test_a_request_is_a_prefix_of_the_next() -> None:
    """Only new items are added at the end, so the prompt is cached."""
    fields: dict[str, Any] = {
        "tools": (TOOL,),
        "tool_choice": "auto",
        "params": Params(max_tokens=5),
        "session_id": "s",
    }
    turn = AssistantMessage("", (ToolCall("c1", "f", {}),), native=Native(NAME, (REASONING, CALL)))
    first, second = written(*ASK, **fields), written(*ASK, turn, ToolMessage("c1", "f", "ok"), **fields)
    assert first.endswith(b"]}")
    assert second.startswith(first[:-2] + b",")


@pytest.mark.parametrize(("strict", "sent"), [(True, True), (False, False), (None, False)])
def test_tools_are_strict_only_if_the_client_wants_it(strict: bool | None, sent: bool) -> None:
    """The API's default would change the schema, so it is always told."""
    tool = ToolSchema(TOOL.name, TOOL.description, TOOL.parameters, strict)
    assert body(tools=(tool,))["tools"] == [
        {"type": "function", "name": "f", "description": "Does f.", "parameters": TOOL.parameters, "strict": sent}
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        (ForcedTool("f"), {"type": "function", "name": "f"}),
        (None, None),
    ],
)
def test_tool_choice(choice: Choice | None, sent: Any) -> None:
    """A choice is sent if there are tools."""
    assert body(tools=(TOOL,), tool_choice=choice).get("tool_choice") == sent
    assert "tool_choice" not in body(tool_choice=choice)


@pytest.mark.parametrize(
    ("reasoning", "sent"),
    [
        (Reasoning(effort="high"), {"effort": "high", "summary": "auto"}),
        (Reasoning(effort="low", summary="detailed"), {"effort": "low", "summary": "detailed"}),
        (Reasoning(effort="low", exclude=True), {"effort": "low"}),
        (Reasoning(effort="none"), {"effort": "none"}),
        (Reasoning(enabled=False), {"effort": "none"}),
        (Reasoning(enabled=True), {"summary": "auto"}),
    ],
)
def test_reasoning(reasoning: Reasoning, sent: JsonObject) -> None:
    """Reasoning has an effort, and a summary unless the client excludes it."""
    assert body(params=Params(reasoning=reasoning))["reasoning"] == sent


def test_parameters_have_the_names_of_the_api() -> None:
    """What the API has is sent under its names."""
    schema: JsonObject = {"name": "s", "schema": {"type": "object"}, "strict": True}
    params = Params(
        parallel=False,
        max_tokens=100,
        temperature=0,
        top_p=0.5,
        logprobs=True,
        top_logprobs=2,
        metadata={"a": "b"},
        format={"type": "json_schema", "json_schema": schema},
        extra={"verbosity": "low", "service_tier": "flex", "store": True, "input": "x", "model": "y"},
    )
    sent = body(params=params, model="gpt-5.4")
    assert RESPONSES.unsupported_params(params) == frozenset()
    assert {name: value for name, value in sent.items() if name not in ("model", "stream", "input")} == {
        "store": False,
        "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
        "parallel_tool_calls": False,
        "max_output_tokens": 100,
        "temperature": 0,
        "top_p": 0.5,
        "top_logprobs": 2,
        "metadata": {"a": "b"},
        "text": {"format": {"type": "json_schema", **schema}, "verbosity": "low"},
        "service_tier": "flex",
    }
    assert (sent["model"], sent["input"]) == ("gpt-5.4", [{"role": "user", "content": "Hi"}])
    assert body(params=Params(format={"type": "json_object"}))["text"] == {"format": {"type": "json_object"}}


def test_parameters_that_the_api_lacks() -> None:
    """The API has no seed, no stop sequences and no penalties, and no budget of reasoning tokens."""
    params = Params(
        seed=1,
        stop=("x",),
        frequency_penalty=1,
        presence_penalty=1,
        logit_bias={"1": 1},
        top_k=4,
        routing=Routing({"order": ["a"]}),
        reasoning=Reasoning(max_tokens=1000),
    )
    unsupported = RESPONSES.unsupported_params(params)
    assert unsupported == set(params.set_fields())
    assert RESPONSES.unsupported_params(Params(reasoning=Reasoning(effort="low", max_tokens=5))) == frozenset()
    assert body(params=params.changed(**dict.fromkeys(unsupported))) == body()


def test_the_session_is_the_key_of_the_cache() -> None:
    """Requests of one conversation share a cache; the API limits the length of its key."""
    assert body(session_id="s-1")["prompt_cache_key"] == "s-1"
    long = body(session_id="s" * 65)["prompt_cache_key"]
    assert len(long) <= 64
    assert long != body(session_id="s" * 66)["prompt_cache_key"]
    assert "prompt_cache_key" not in body()
