"""Writing requests: roles, parts, tools, settings, and the turns of the model as its API sent them."""

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
from signalbox.core.params import Choice, ForcedTool, Params, Reasoning
from signalbox.core.parts import Request, ToolSchema
from signalbox.wire.dialect import Upstream
from signalbox.wire.dialects import DIALECTS
from signalbox.wire.gemini.request import body_of

ASK = (UserMessage("Hi"),)
TOOL = ToolSchema("f", "Does f.", {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": False})
GEMINI = DIALECTS["gemini"]


def body(*messages: Message, model: str = "gemini-2.5-flash", **fields: Any) -> dict[str, Any]:
    """Write a body and read it again."""
    return json.loads(body_of(Request(model, messages or ASK, **fields)))


def contents(*messages: Message, model: str = "gemini-2.5-flash") -> list[Any]:
    """Write the turns of a conversation."""
    return body(*messages, model=model)["contents"]


def test_nothing_is_added() -> None:
    """A minimal request has the conversation only."""
    assert body() == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


def test_where_requests_go() -> None:
    """The path names model and method, the key is a header, and a list of models is complete in one answer."""
    assert (
        GEMINI.path_of("gemini-2.5-pro", stream=True) == "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    )
    assert GEMINI.path_of("models/a/b?c", stream=False) == "/v1beta/models/a%2Fb%3Fc:generateContent"
    assert GEMINI.headers_of(Upstream(GEMINI, "https://a.example", "key")) == {"x-goog-api-key": "key"}
    assert GEMINI.models.path == "/v1beta/models?pageSize=1000"


def test_system_messages() -> None:
    """Instructions at the beginning are the system instruction; later ones keep their place, as text of the user."""
    sent = body(SystemMessage("Be"), SystemMessage((TextPart("brief."),)), *ASK, SystemMessage("Now."))
    assert sent["systemInstruction"] == {"parts": [{"text": "Be"}, {"text": "brief."}]}
    assert sent["contents"] == [{"role": "user", "parts": [{"text": text}]} for text in ("Hi", "Now.")]


def test_models_without_system_instruction() -> None:
    """Gemma 3 rejects a system instruction, so it gets a turn of the user instead."""
    sent = body(SystemMessage("Be brief."), *ASK, model="gemma-3-27b-it")
    assert "systemInstruction" not in sent
    assert sent["contents"] == [{"role": "user", "parts": [{"text": text}]} for text in ("Be brief.", "Hi")]
    assert "systemInstruction" in body(SystemMessage("Be brief."), *ASK, model="gemma-4-31b-it")


def test_images_and_files() -> None:
    """Data URLs become inline data; an address becomes a file with the type that its path names."""
    parts = (
        TextPart("See:"),
        ImagePart("data:image/webp;base64,AAAA", detail="high"),
        ImagePart("https://a.example/b.JPG?size=1"),
        ImagePart("https://a.example/b"),
        FilePart("a.pdf", "data:application/pdf;base64,BBBB"),
        FilePart("a.pdf", "https://a.example/a.pdf"),
    )
    (turn,) = contents(UserMessage(parts))
    assert turn["parts"] == [
        {"text": "See:"},
        {"inlineData": {"mimeType": "image/webp", "data": "AAAA"}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://a.example/b.JPG?size=1"}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/b"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "BBBB"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "https://a.example/a.pdf"}},
    ]


ITEMS: tuple[JsonObject, ...] = (
    {"thought": True, "text": "Hm."},
    {"functionCall": {"name": "f", "args": {"b": 1, "a": 2}, "id": "fc-1"}, "thoughtSignature": "c2ln+/="},
    {"functionCall": {"args": {}, "name": "g"}},
    {"text": "", "thoughtSignature": "ZW5k"},
)
CALLS = (ToolCall("fc-1", "f", {"b": 1, "a": 2}, "fc-1"), ToolCall("call_2", "g", {}))
RESULTS = (ToolMessage("fc-1", "f", "one"), ToolMessage("call_2", "g", "No such file.", is_error=True))


def test_a_native_turn_goes_back_unchanged() -> None:
    """The parts go back byte for byte, in order; results have the ids that the API chose, and no others."""
    said = AssistantMessage("ignored", CALLS, native=Native("gemini", ITEMS))
    raw = body_of(Request("gemini-3-flash", (*ASK, said, *RESULTS)))
    assert b'{"role":"model","parts":' + json.dumps(ITEMS, separators=(",", ":")).encode() in raw
    assert json.loads(raw)["contents"][2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "fc-1", "name": "f", "response": {"output": "one"}}},
            {"functionResponse": {"name": "g", "response": {"error": "No such file."}}},
        ],
    }


@pytest.mark.parametrize("native", [None, Native("anthropic-messages", ({"type": "text"},))])
@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-pro-preview", "gemma-3-27b-it"])
def test_a_foreign_turn_has_no_ids_and_no_reasoning(model: str, native: Native | None) -> None:
    """Text and calls of another model are written without ids; Gemini 3 gets the value that replaces a signature."""
    said = AssistantMessage("So:", CALLS, reasoning="secret", native=native)
    turns = contents(*ASK, said, *RESULTS, model=model)
    signature = {"thoughtSignature": "skip_thought_signature_validator"} if "gemini-3" in model else {}
    assert turns[1]["parts"] == [
        {"text": "So:"},
        {"functionCall": {"name": "f", "args": {"b": 1, "a": 2}}, **signature},
        {"functionCall": {"name": "g", "args": {}}},
    ]
    assert [part["functionResponse"].get("id") for part in turns[2]["parts"]] == [None, None]


def test_an_empty_turn_and_an_empty_result() -> None:
    """A turn needs a part, and a result needs words."""
    turns = contents(
        *ASK, AssistantMessage(), UserMessage("?"), AssistantMessage(" ", CALLS[1:]), ToolMessage("c", "g", "")
    )
    assert turns[1] == {"role": "model", "parts": [{"text": " "}]}
    assert turns[3]["parts"] == [{"functionCall": {"name": "g", "args": {}}}]
    assert turns[4]["parts"] == [{"functionResponse": {"name": "g", "response": {"output": "(no output)"}}}]


def test_a_request_begins_with_the_one_before() -> None:
    """Request n, without its end, is a byte prefix of request n + 1, so that the prompt cache is used."""
    steps: tuple[Message, ...] = (SystemMessage("Be brief."), *ASK)
    params, before = Params(temperature=0.5, reasoning=Reasoning(effort="low"), extra={"safetySettings": []}), b""
    for number in range(4):
        sent = body_of(Request("gemini-3-flash", steps, (TOOL,), "auto", params))
        assert sent.startswith(before)
        before = sent.removesuffix(b"]}")
        item: JsonObject = {"functionCall": {"name": "f", "args": {"n": number}}, "thoughtSignature": "c2ln"}
        call = ToolCall(f"c{number}", "f", {"n": number})
        steps += (AssistantMessage(calls=(call,), native=Native("gemini", (item,))), ToolMessage(call.id, "f", "x"))


def test_tools() -> None:
    """Tools have their JSON Schema unchanged in the field that accepts it whole (quirk C10)."""
    sent = body(tools=(TOOL,))
    declared = {"name": "f", "description": "Does f.", "parametersJsonSchema": TOOL.parameters}
    assert sent["tools"] == [{"functionDeclarations": [declared]}]
    assert "toolConfig" not in sent


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (ForcedTool("f"), {"mode": "ANY", "allowedFunctionNames": ["f"]}),
    ],
)
def test_tool_choice(choice: Choice, config: dict[str, Any]) -> None:
    """The choice is a mode; it is not sent without tools."""
    assert body(tools=(TOOL,), tool_choice=choice)["toolConfig"] == {"functionCallingConfig": config}
    assert "toolConfig" not in body(tool_choice=choice)


def test_parameters() -> None:
    """Every supported parameter is sent under the API's name; the others are listed as unsupported."""
    params = Params(
        parallel=False, max_tokens=9, temperature=0.0, top_p=0.9, top_k=5, min_p=0.1, frequency_penalty=0.1,
        presence_penalty=0.2, seed=7, logprobs=True, top_logprobs=3, logit_bias={"1": 1}, stop=("a", "b"),
        metadata={"a": "b"}, modalities=("image", "text"),
    )  # fmt: skip
    assert GEMINI.unsupported_params(params) == {"parallel", "min_p", "logit_bias", "metadata"}
    assert body(params=params)["generationConfig"] == {
        "maxOutputTokens": 9, "temperature": 0.0, "topP": 0.9, "topK": 5, "frequencyPenalty": 0.1,
        "presencePenalty": 0.2, "seed": 7, "responseLogprobs": True, "logprobs": 3, "stopSequences": ["a", "b"],
        "responseModalities": ["IMAGE", "TEXT"],
    }  # fmt: skip


def test_response_formats() -> None:
    """JSON mode and JSON Schema have their own fields; text is the default."""
    schema = {"type": "object"}
    given = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema, "strict": True}}
    assert body(params=Params(format=given))["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": schema,
    }
    only_json = body(params=Params(format={"type": "json_object"}))
    assert only_json["generationConfig"] == {"responseMimeType": "application/json"}
    assert "generationConfig" not in body(params=Params(format={"type": "text"}))


PRO, FLASH, PRO_3, FLASH_3 = "gemini-2.5-pro", "gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-3-flash-preview"


@pytest.mark.parametrize(
    ("model", "reasoning", "shown", "key", "value"),
    [
        (FLASH, Reasoning(effort="medium"), True, "thinkingBudget", 8192),
        (FLASH, Reasoning(max_tokens=500), True, "thinkingBudget", 500),
        (FLASH, Reasoning(enabled=True, exclude=True), False, "thinkingBudget", -1),
        (FLASH, Reasoning(effort="none"), False, "thinkingBudget", 0),
        (PRO, Reasoning(enabled=False), False, "thinkingBudget", 128),
        (FLASH_3, Reasoning(effort="minimal"), True, "thinkingLevel", "minimal"),
        (FLASH_3, Reasoning(enabled=False), False, "thinkingLevel", "minimal"),
        (FLASH_3, Reasoning(max_tokens=5000), True, "thinkingLevel", "medium"),
        (PRO_3, Reasoning(effort="xhigh"), True, "thinkingLevel", "high"),
        (PRO_3, Reasoning(effort="none"), False, "thinkingLevel", "low"),
        (PRO_3, Reasoning(max_tokens=50_000), True, "thinkingLevel", "high"),
        (PRO_3, Reasoning(enabled=True), True, "thinkingLevel", None),
    ],
)
def test_reasoning(model: str, reasoning: Reasoning, shown: bool, key: str, value: object) -> None:
    """Gemini 2.5 has a budget, later ones a level; both in one request are a 400."""
    sent = body(model=model, params=Params(reasoning=reasoning))["generationConfig"]["thinkingConfig"]
    assert sent == {"includeThoughts": shown, **({} if value is None else {key: value})}


def test_extra_parameters() -> None:
    """Other fields of the API are sent unchanged; Google's own tools and further settings are added."""
    extra: dict[str, Any] = {
        "tools": [{"googleSearch": {}}],
        "toolConfig": {"includeServerSideToolInvocations": True},
        "generationConfig": {"mediaResolution": "MEDIA_RESOLUTION_LOW"},
        "cachedContent": "cachedContents/1",
    }
    sent = body(tools=(TOOL,), tool_choice="auto", params=Params(seed=1, extra=extra))
    assert [[*tool] for tool in sent["tools"]] == [["functionDeclarations"], ["googleSearch"]]
    assert sent["toolConfig"] == {"functionCallingConfig": {"mode": "AUTO"}, "includeServerSideToolInvocations": True}
    assert sent["generationConfig"] == {"seed": 1, "mediaResolution": "MEDIA_RESOLUTION_LOW"}
    assert sent["cachedContent"] == "cachedContents/1"
    alone = body(params=Params(extra=extra))
    assert (alone["tools"], alone["toolConfig"]) == (extra["tools"], extra["toolConfig"])
