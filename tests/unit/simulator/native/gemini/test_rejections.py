"""The simulator rejects requests that Gemini's API rejects, in its words."""

from typing import Any

import httpx
import pytest
from signalbox.simulator.native.gemini.errors import STATUS_WORDS

from tests.unit.simulator.native.gemini.conversation import (
    SEARCH,
    THOUGHTS,
    Json,
    asked,
    objects,
    post,
    results,
    user,
)

CALL = {"name": "search_web", "args": {"query": "x"}}
TURN = {"role": "model", "parts": [{"functionCall": CALL, "thoughtSignature": "skip_thought_signature_validator"}]}
PAIR = "Please ensure that the number of function response parts is equal to the number of function call parts"


def declared(**parameters: Any) -> Json:
    """Return a request that declares one function with this schema."""
    return asked(tools=[{"functionDeclarations": [{**SEARCH, "parameters": parameters}]}])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ([], "Invalid JSON payload received"),
        (asked(colour="red"), 'Unknown name "colour": Cannot find field.'),
        ({"tools": []}, "contents is not specified"),
        (asked({"role": "assistant", "parts": [{"text": "x"}]}), "Please use a valid role: user, model."),
        (asked({"role": "user", "parts": []}), "contents.parts must not be empty."),
        (asked({"role": "user", "parts": [{}]}), "required oneof field 'data'"),
        (asked({"role": "user", "parts": [{"text": 5}]}), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING)"),
        (asked(user(), {"role": "model", "parts": [{"text": "x", "thoughtSignature": "\u2028"}]}), "Base64 decoding"),
        (asked(user(), {"role": "model", "parts": [{"functionCall": {"name": []}}]}), "Name cannot be empty."),
        (asked(user(), {"role": "model", "parts": [{"functionCall": {"name": [1]}}]}), "name' (TYPE_STRING)"),
        (asked(user(), {**TURN, "role": "user"}, results(CALL)), "function call turn comes immediately after"),
        (asked(user(), TURN, {**results(CALL), "role": "model"}), "function response turn comes immediately after"),
        (asked(generationConfig={"maxOutputTokens": 1e300}), "max_output_tokens' (TYPE_INT32)"),
        (asked({"role": "user", "parts": ["x"]}), "Invalid value at 'contents[0].parts[0]'"),
        (asked({"role": "user", "parts": [{"text": "x", "colour": 1}]}), "at 'contents[0].parts[0]'"),
        (asked(user(), {"role": "model", "parts": [{"functionCall": {"name": ""}}]}), "Name cannot be empty."),
        (asked(TURN, results(CALL)), "function call turn comes immediately after a user turn"),
        (asked(user(), results(CALL)), "function response turn comes immediately after a function call turn."),
        (asked(user(), TURN), PAIR),
        (asked(user(), TURN, user()), PAIR),
        (asked(user(), TURN, results(CALL, CALL)), PAIR),
        (declared(type="object", additionalProperties=False), 'Unknown name "additionalProperties" at'),
        (declared(type="object", properties={"n": {"type": "integer", "enum": [1]}}), "(TYPE_STRING)"),
        (declared(type="object", properties={"n": {"type": "string", "format": "uri"}}), "'enum' and 'date-time'"),
        (declared(type="object", properties={"n": {"type": "array"}}), "items: missing field."),
        (asked(tools=[{"functionDeclarations": [{"name": "a b"}]}]), "Invalid function name"),
        (asked(tools=[{"functionDeclarations": [SEARCH, SEARCH]}]), "Duplicate function declaration found"),
        (
            asked(tools=None, toolConfig={"functionCallingConfig": {"mode": "ANY"}}),
            "Function calling config is set without function_declarations.",
        ),
        (asked(toolConfig={"functionCallingConfig": {"mode": "MUST"}}), "FunctionCallingConfig.Mode"),
        (asked(generationConfig={"temperature": 3}), "temperature must be in the range [0.0, 2.0]."),
        (asked(generationConfig={"temperature": "hot"}), "(TYPE_FLOAT)"),
        (asked(generationConfig={"maxOutputTokens": 0}), "max_output_tokens must be positive."),
        (asked(generationConfig={"responseMimeType": "text/html"}), "allowed mimetypes are"),
        (
            asked(generationConfig={"thinkingConfig": {"thinkingBudget": 9, "thinkingLevel": "LOW"}}),
            "only one of thinking budget and thinking level",
        ),
    ],
)
def test_invalid_requests(gemini: httpx.Client, body: Any, message: str) -> None:
    """The error has a 400, the status word and the API's message, streamed or not."""
    for stream in (True, False):
        response = post(gemini, "sim", body, stream=stream)
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
        assert message in error["message"]


def test_older_models_reject_more(gemini: httpx.Client) -> None:
    """JSON beside functions, and levels of thinking, came with Gemini 3 (quirk C9)."""
    json_mode = asked(generationConfig={"responseMimeType": "application/json"})
    level = asked(generationConfig={"thinkingConfig": {"thinkingLevel": "low"}})
    for body in (json_mode, level):
        assert post(gemini, "gemini-2.5-flash", body).status_code == 400
        assert post(gemini, "sim", body).status_code == 200
    off = asked(generationConfig={"thinkingConfig": {"thinkingBudget": 0}})
    assert "only works in thinking mode" in post(gemini, "gemini-2.5-pro", off).json()["error"]["message"]


def test_names_in_snake_case(gemini: httpx.Client) -> None:
    """The API accepts snake_case names too."""
    body = {
        "contents": [user("hello")],
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_budget": 0}},
    }
    received = objects(post(gemini, "gemini-2.5-flash", body))
    assert received[-1]["candidates"][0]["finishReason"] == "MAX_TOKENS"


def test_a_missing_key(gemini: httpx.Client) -> None:
    """A request without a key is a 403; the key may be in the query."""
    del gemini.headers["x-goog-api-key"]
    response = post(gemini, "sim", asked(), stream=False)
    assert (response.status_code, response.json()["error"]["status"]) == (403, "PERMISSION_DENIED")
    assert gemini.post("/models/sim:generateContent?key=any", json=asked()).status_code == 200


@pytest.mark.parametrize("model", ["gpt-4o", "sim-typo", "sim-quirk-a01", "simple"])
def test_unknown_models(gemini: httpx.Client, model: str) -> None:
    """An unknown model is a 404: also a typo of a fault, and a quirk that only chat completions have."""
    response = post(gemini, model, asked())
    error = response.json()["error"]
    assert (response.status_code, error["status"]) == (404, "NOT_FOUND")
    assert error["message"].startswith(f"models/{model} is not found for API version v1beta")


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529])
@pytest.mark.parametrize("stream", [True, False])
def test_scripted_errors(gemini: httpx.Client, status: int, stream: bool) -> None:
    """`sim-error-N` has the status, its word, and for a 429 the delay until the next attempt."""
    response = post(gemini, f"sim-error-{status}", asked(), stream=stream)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, status)
    assert error["status"] == STATUS_WORDS.get(status, "UNKNOWN")
    delays = [detail["retryDelay"] for detail in error.get("details", ()) if "retryDelay" in detail]
    assert delays == (["2s"] if status == 429 else [])


def test_a_page_of_the_front_end(gemini: httpx.Client) -> None:
    """A 502 is HTML: it does not come from the API."""
    response = post(gemini, "sim-error-502", asked())
    assert (response.status_code, response.headers["content-type"]) == (502, "text/html; charset=utf-8")
    assert "<title>Error 502 (Server Error)!!1</title>" in response.text


def test_the_context_window(gemini: httpx.Client) -> None:
    """A prompt that is longer than the context window is rejected with both numbers."""
    message = post(gemini, "sim-context-50", asked(generationConfig=THOUGHTS)).json()["error"]["message"]
    assert message.startswith("The input token count (")
    assert message.endswith("exceeds the maximum number of tokens allowed (50).")
