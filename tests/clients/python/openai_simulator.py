"""The `openai` package against the simulator's Responses API and chat completions: it validates every answer."""

import os

import openai
from checks import URL, report
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

os.environ.pop("OPENAI_API_KEY", None)
CLIENT = OpenAI(base_url=f"{URL}/openai/v1", api_key="unused", max_retries=0)
EVENT = TypeAdapter(ResponseStreamEvent)
QUESTION = "What is 17 * 23?"
SCHEMA = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
    "additionalProperties": False,
}
CALCULATE = {"type": "function", "name": "calculate", "parameters": SCHEMA, "strict": True}
THINK = {"reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"], "store": False}
ENDINGS = {
    "sim": "completed",
    "sim-length": "incomplete",
    "sim-length-empty": "incomplete",
    "sim-length-tool": "incomplete",
    "sim-filter": "incomplete",
    "sim-refusal": "completed",
    "sim-empty": "completed",
    "sim-reasoning-only": "completed",
    "sim-searches-3": "completed",
    "sim-drip": "completed",
    "sim-web-search": "completed",
    "sim-commentary": "completed",
    "sim-open-reasoning": "completed",
    "sim-two-summaries": "completed",
    "sim-whole-arguments": "completed",
    "sim-plain-frames": "completed",
}
CHAT = [{"role": "user", "content": QUESTION}]
CHAT_TOOL = {"type": "function", "function": {"name": "calculate", "parameters": SCHEMA, "strict": True}}
CHAT_ENDINGS = {
    "sim": "tool_calls",
    "sim-length": "length",
    "sim-length-tool": "length",
    "sim-filter": "content_filter",
    "sim-refusal": "stop",
    "sim-empty": "stop",
    "sim-searches-3": "tool_calls",
}
# The package has no type for this event, which the real API sends (recorded with gpt-4.1).
NOT_TYPED = ("keepalive",)


def whole() -> None:
    """Every ending is a response whose fields have the package's types."""
    for model, status in ENDINGS.items():
        body = {"model": model, "input": QUESTION, "tools": [CALCULATE], **THINK}
        raw = CLIENT.responses.with_raw_response.create(**body)
        Response.model_validate_json(raw.text)
        assert raw.parse().status == status, model


def streamed() -> None:
    """Every event has the package's types, and the package puts the same response together."""
    for model, status in ENDINGS.items():
        body = {"model": model, "input": QUESTION, "tools": [CALCULATE], **THINK}
        for event in CLIENT.responses.create(**body, stream=True):
            if event.type not in NOT_TYPED:
                EVENT.validate_python(event.model_dump(warnings=False))
        assert event.type == f"response.{status}", model
        with CLIENT.responses.stream(**body) as events:
            kinds = [one.type for one in events if one.type not in NOT_TYPED]
            if status == "completed":
                assert events.get_final_response().status == status
        assert kinds[-1] == f"response.{status}"


def refusal() -> None:
    """A refusal is a part of the message."""
    [*_, message] = CLIENT.responses.create(model="sim-refusal", input=QUESTION).output
    assert message.content[0].type == "refusal"


def tool_loop() -> None:
    """Items that the package read are accepted when they come back, streamed and whole, stored and encrypted."""
    for stream in (False, True):
        for more in (THINK, {"reasoning": {"summary": "auto"}}):
            given = [{"role": "user", "content": QUESTION}]
            first = _answer(given, stream, more)
            reasoning, call = first.output
            assert (reasoning.type, bool(reasoning.encrypted_content)) == ("reasoning", more is THINK)
            assert reasoning.summary[0].text
            given += [*first.output, {"type": "function_call_output", "call_id": call.call_id, "output": "391"}]
            second = _answer(given, stream, more)
            assert "391" in second.output_text
            assert second.usage.total_tokens == second.usage.input_tokens + second.usage.output_tokens


def _answer(given, stream, more):
    body = {"model": "gpt-5-mini", "input": given, "tools": [CALCULATE], **more}
    if not stream:
        return CLIENT.responses.create(**body)
    with CLIENT.responses.stream(**body) as events:
        return events.get_final_response()


def changed_reasoning() -> None:
    """Altered encrypted reasoning is a 400 with its code."""
    given = [{"role": "user", "content": QUESTION}]
    reasoning, call = _answer(given, False, THINK).output
    reasoning.encrypted_content = reasoning.encrypted_content[::-1]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "391"}
    try:
        _answer([*given, reasoning, call, result], False, THINK)
    except openai.BadRequestError as error:
        assert error.code == "invalid_encrypted_content"
    else:
        raise AssertionError("the request was accepted")


def errors() -> None:
    """Each status has the package's exception, with the message of the body."""
    expected = {
        400: openai.BadRequestError,
        401: openai.AuthenticationError,
        403: openai.PermissionDeniedError,
        404: openai.NotFoundError,
        422: openai.UnprocessableEntityError,
        429: openai.RateLimitError,
        503: openai.InternalServerError,
    }
    for status, kind in expected.items():
        try:
            CLIENT.responses.create(model=f"sim-error-{status}", input=QUESTION)
        except openai.APIStatusError as error:
            assert (type(error), error.status_code) == (kind, status)
            assert error.body["message"]
            assert error.request_id
        else:
            raise AssertionError(f"no error for {status}")


def error_in_the_middle() -> None:
    """An error event ends the stream with an exception."""
    try:
        list(CLIENT.responses.create(model="sim-midstream-error", input=QUESTION, stream=True))
    except openai.APIError as error:
        assert "The server had an error" in error.message
    else:
        raise AssertionError("the stream ended without an error")


def models() -> None:
    """The list and its entries have the package's types."""
    listed = {model.id for model in CLIENT.models.list()}
    assert {"sim", "gpt-5.4"} <= listed
    assert CLIENT.models.retrieve("gpt-4o").object == "model"


def chat_whole() -> None:
    """Every ending of chat completions has the package's types."""
    for model, reason in CHAT_ENDINGS.items():
        body = {"model": model, "messages": CHAT, "tools": [CHAT_TOOL]}
        raw = CLIENT.chat.completions.with_raw_response.create(**body)
        ChatCompletion.model_validate_json(raw.text)
        assert raw.parse().choices[0].finish_reason == reason, model


def chat_streamed() -> None:
    """Every chunk has the package's types, and usage comes last if it is asked for."""
    for model, reason in CHAT_ENDINGS.items():
        body = {"model": model, "messages": CHAT, "tools": [CHAT_TOOL], "stream_options": {"include_usage": True}}
        chunks = list(CLIENT.chat.completions.create(**body, stream=True))
        for chunk in chunks:
            ChatCompletionChunk.model_validate(chunk.model_dump(warnings=False))
        assert chunks[-2].choices[0].finish_reason == reason, model
        assert chunks[-1].usage.total_tokens > 0


def chat_tool_loop() -> None:
    """The package puts the calls together; the answer uses the result."""
    with CLIENT.chat.completions.stream(model="gpt-5-mini", messages=CHAT, tools=[CHAT_TOOL]) as events:
        first = events.get_final_completion().choices[0].message
    [call] = first.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "391"}
    messages = [*CHAT, first.model_dump(exclude_none=True, exclude={"parsed", "tool_calls"}), result]
    messages[1]["tool_calls"] = [call.model_dump(exclude={"function": {"parsed_arguments"}, "index": True})]
    answer = CLIENT.chat.completions.create(model="gpt-5-mini", messages=messages, tools=[CHAT_TOOL])
    assert "391" in answer.choices[0].message.content


def chat_error_in_the_middle() -> None:
    """An error chunk ends the stream with an exception."""
    try:
        list(CLIENT.chat.completions.create(model="sim-midstream-error", messages=CHAT, stream=True))
    except openai.APIError as error:
        assert "The server had an error" in error.message
    else:
        raise AssertionError("the stream ended without an error")


report(
    whole,
    streamed,
    refusal,
    tool_loop,
    changed_reasoning,
    errors,
    error_in_the_middle,
    models,
    chat_whole,
    chat_streamed,
    chat_tool_loop,
    chat_error_in_the_middle,
)
