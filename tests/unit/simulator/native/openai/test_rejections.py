"""Requests that the Responses API rejects, with the words of the real one."""

from typing import Any

import httpx
import pytest

from tests.unit.simulator.native.openai.conversation import (
    ENCRYPTED,
    answered,
    ask,
    continued,
    native_tools,
    post,
    rejected,
    results_of,
)

QUESTION = "What is 17 * 23?"
CALL = {"type": "function_call", "call_id": "call_1", "name": "calculate", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "1"}
CLOSED = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("fields", "message", "param"),
    [
        ({"model": None}, "Missing required parameter: 'model'.", "model"),
        ({"model": "claude-3"}, "The requested model 'claude-3' does not exist.", "model"),
        ({"model": "sim-unheard-of"}, "The requested model 'sim-unheard-of' does not exist.", "model"),
        ({"input": None}, "Missing required parameter: one of 'input'", "input"),
        ({"input": {}}, "Invalid type for 'input': expected one of a string or array of objects, but got an", "input"),
        ({"messages": []}, "Unknown parameter: 'messages'.", "messages"),
        ({"stop": ["a"]}, "Unknown parameter: 'stop'.", "stop"),
        ({"store": "no"}, "Invalid type for 'store': expected a boolean, but got a string instead.", "store"),
        ({"max_output_tokens": 5}, "Invalid 'max_output_tokens': integer below minimum value.", "max_output_tokens"),
        (
            {"temperature": 3},
            "Invalid 'temperature': decimal above maximum value. Expected a value <= 2",
            "temperature",
        ),
        ({"model": "gpt-5", "temperature": 1}, "Unsupported parameter: 'temperature' is not supported", "temperature"),
        ({"model": "o4-mini", "top_p": 1}, "Unsupported parameter: 'top_p' is not supported with this model.", "top_p"),
        (
            {"model": "gpt-5.4", "temperature": 1, "reasoning": {"effort": "low"}},
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "temperature",
        ),
        (
            {"model": "gpt-4o", "reasoning": {"effort": "low"}},
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "reasoning.effort",
        ),
        ({"model": "gpt-4o", **ENCRYPTED}, "Encrypted content is not supported with this model.", "include"),
        (
            {"reasoning": {"effort": "huge"}},
            "Invalid value: 'huge'. Supported values are: 'none', ",
            "reasoning.effort",
        ),
        ({"tools": [{"type": "function", "function": {}}]}, "Missing required parameter: 'tools[0].name'.", None),
        ({"tools": [{"type": "magic"}]}, "Invalid value: 'magic'. Supported values are: ", "tools[0].type"),
        (
            {"tools": [{**native_tools()[0], "strict": True}]},
            "Invalid schema for function 'search_web': In context=(), 'additionalProperties' is required",
            "tools[0].parameters",
        ),
        (
            {"tools": [{**native_tools()[0], "strict": True, "parameters": {**CLOSED, "required": []}}]},
            "Invalid schema for function 'search_web': In context=(), 'required' is required to be supplied",
            "tools[0].parameters",
        ),
        ({"tools": [], "tool_choice": "required"}, "Tool choice 'required' must be specified with", "tool_choice"),
        ({"tool_choice": {"type": "function", "name": "x"}}, "Tool choice 'function' not found in", "tool_choice"),
        (
            {"text": {"format": {"type": "json_object"}}},
            "Response input messages must contain the word 'json'",
            "input",
        ),
        ({"text": {"format": {"type": "json_schema"}}}, "Missing required parameter: 'text.format.name'.", None),
        ({"previous_response_id": "resp_1"}, "Previous response with id 'resp_1' not found.", "previous_response_id"),
    ],
)
def test_fields_and_options(openai: httpx.Client, fields: dict[str, Any], message: str, param: str | None) -> None:
    """Each invalid field has the API's own message."""
    error = rejected(openai, {**ask("sim", QUESTION), **fields})
    assert error["message"].startswith(message)
    assert error["type"] == "invalid_request_error"
    assert param is None or error["param"] == param


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"role": "tool", "content": "1"}], "Invalid value: 'tool'. Supported values are: 'assistant', 'system'"),
        ([{"role": "user"}], "Missing required parameter: 'input[0].content'."),
        (
            [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
            "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', and 'input_file'.",
        ),
        (
            [{"role": "assistant", "content": [{"type": "input_text", "text": "Hi"}]}],
            "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
        ),
        ([{"type": "thought"}], "Invalid value: 'thought'. Supported values are: "),
        ([{**CALL, "arguments": {}}], "Invalid type for 'input[0].arguments': expected a string, but got an object"),
        ([{**CALL, "arguments": "{"}, RESULT], "Invalid 'input[0].arguments': the string is not valid JSON."),
        ([{**CALL, "id": "call_1"}, RESULT], "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'."),
        (
            [{**CALL, "call_id": "c" * 65}],
            "Invalid 'input[0].call_id': string too long. Expected a string with maximum",
        ),
        ([CALL], "No tool output found for function call call_1."),
        ([RESULT], "No tool call found for function call output with call_id call_1."),
        ([RESULT, CALL], "No tool call found for function call output with call_id call_1."),
        ([CALL, RESULT, RESULT], "Duplicate function_call_output found with call_id call_1."),
        ([CALL, CALL, RESULT], "Duplicate function_call found with call_id call_1."),
        ([{**CALL, "extra": 1}, RESULT], "Unknown parameter: 'input[0].extra'."),
        ([{"type": "reasoning", "id": "rs_1"}], "Missing required parameter: 'input[0].summary'."),
    ],
)
def test_items(openai: httpx.Client, items: list[dict[str, Any]], message: str) -> None:
    """Each invalid item has the API's own message."""
    assert rejected(openai, ask("sim", *items, QUESTION))["message"].startswith(message)


def test_items_without_ids_are_accepted(openai: httpx.Client) -> None:
    """Calls and messages of any origin are accepted without their ids."""
    answered(openai, ask("sim", QUESTION, CALL, {"role": "assistant", "content": "I wait."}, RESULT))


def test_reasoning_must_come_back_unaltered(openai: httpx.Client) -> None:
    """Encrypted content belongs to one item and one model."""
    body = ask("sim", QUESTION, **ENCRYPTED)
    first, other = (answered(openai, body)["output"] for _ in range(2))
    altered = {**first[0], "encrypted_content": first[0]["encrypted_content"][:-4] + "AAAA"}
    error = rejected(openai, continued(body, [altered, first[1]]))
    assert error["code"] == "invalid_encrypted_content"
    assert error["message"].startswith(f"The encrypted content for item {first[0]['id']} could not be verified.")
    swapped = {**first[0], "encrypted_content": other[0]["encrypted_content"]}
    message = rejected(openai, continued(body, [swapped, first[1]]))["message"]
    assert message.endswith("Reason: Encrypted content item_id did not match the target item id.")
    elsewhere = rejected(openai, {**continued(body, first), "model": "gpt-5-mini"})
    assert elsewhere["code"] == "invalid_encrypted_content"
    nameless = {key: value for key, value in first[0].items() if key != "id"}
    answered(openai, continued(body, [nameless, first[1]]))


def test_reasoning_must_not_be_missing(openai: httpx.Client) -> None:
    """A call with its id needs the reasoning before it, and reasoning needs an item after it."""
    body = ask("sim", QUESTION, **ENCRYPTED)
    reasoning, call = answered(openai, body)["output"]
    message = rejected(openai, continued(body, [call]))["message"]
    text = f"Item '{call['id']}' of type 'function_call' was provided without its required 'reasoning' item: "
    assert message == f"{text}'{reasoning['id']}'."
    answered(openai, continued(body, [{key: value for key, value in call.items() if key != "id"}]))
    alone = {**body, "input": [*body["input"], reasoning]}
    assert rejected(openai, alone)["message"].endswith("was provided without its required following item.")
    before_user = {**body, "input": [*body["input"], reasoning, {"role": "user", "content": "Go on"}]}
    assert rejected(openai, before_user)["message"].endswith("was provided without its required following item.")


def test_reasoning_that_was_not_stored(openai: httpx.Client) -> None:
    """Without encrypted content, reasoning is found only if it was stored."""
    body = ask("sim", QUESTION, store=False)
    items = answered(openai, body)["output"]
    error = rejected(openai, continued(body, items), 404)
    assert error["message"].startswith(f"Item with id '{items[0]['id']}' not found. Items are not persisted when")
    assert rejected(openai, continued({**body, "store": True}, items), 404)["param"] == "input"
    stored = answered(openai, ask("sim", QUESTION))["output"]
    answered(openai, continued(ask("sim", QUESTION), stored))


def test_duplicate_ids(openai: httpx.Client) -> None:
    """An item must not be sent twice."""
    body = ask("sim", QUESTION)
    items = answered(openai, body)["output"]
    twice = {**body, "input": [*body["input"], items[0], *items, *results_of(items)]}
    assert rejected(openai, twice)["message"].startswith(f"Duplicate item found with id {items[0]['id']}.")


def test_requests_without_key_or_json(openai: httpx.Client) -> None:
    """A missing key is a 401; a body that is not JSON is a 400."""
    response = openai.post("/responses", json=ask("sim", QUESTION), headers={"authorization": ""})
    assert (response.status_code, response.json()["error"]["code"]) == (401, None)
    response = openai.post("/responses", content=b"{")
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("We could not parse the JSON body of your request.")


def test_limits(openai: httpx.Client) -> None:
    """Too long inputs and too expensive answers are rejected."""
    assert rejected(openai, ask("sim-context-100", QUESTION))["code"] == "context_length_exceeded"
    body = ask("sim-afford-100", QUESTION, max_output_tokens=101)
    assert rejected(openai, body, 429)["code"] == "insufficient_quota"
    answered(openai, {**body, "max_output_tokens": 100})


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529])
def test_scripted_errors(openai: httpx.Client, status: int) -> None:
    """Every error is in the API's format; a 429 says how long to wait."""
    body = ask(f"sim-error-{status}", QUESTION)
    assert rejected(openai, body, status)["message"]
    assert ("retry-after" in post(openai, body).headers) == (status == 429)
