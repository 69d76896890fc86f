"""LiteLLM as a library: the models of Signalbox as `openai/...`."""

import json

import litellm
from checks import (
    BASE_URL,
    BOTH_TOOLS,
    CALCULATION,
    GET_WEATHER,
    MODEL,
    SERVER_TOOLS,
    expect_both_results,
    expect_cancelled,
    get_weather,
    report,
)

litellm.suppress_debug_info = True
QUESTION = [{"role": "user", "content": CALCULATION}]
REASONING = {"reasoning_effort": "low", "allowed_openai_params": ["reasoning_effort"]}


def _ask(model: str = MODEL, **request):
    request = {"messages": QUESTION, **REASONING, **request}
    return litellm.completion(f"openai/{model}", api_base=BASE_URL, api_key="unused", num_retries=0, **request)


def whole() -> None:
    """The answer with its usage and its reasoning."""
    answer = _ask()
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens > 0
    assert answer.choices[0].message.reasoning_content


def stream() -> None:
    """LiteLLM builds the answer again from the chunks, with usage and reasoning."""
    chunks = list(_ask(stream=True, stream_options={"include_usage": True}))
    answer = litellm.stream_chunk_builder(chunks, messages=QUESTION)
    assert "391" in answer.choices[0].message.content
    assert answer.usage.total_tokens > 0
    assert answer.choices[0].message.reasoning_content


def server_tool() -> None:
    """Our tool runs inside the answer."""
    [choice] = _ask().choices
    assert "391" in choice.message.content
    assert not choice.message.tool_calls


def client_tool() -> None:
    """A call is handed over beside our tool, and the continuation uses both results."""
    for streamed in (False, True):
        messages = [{"role": "user", "content": BOTH_TOOLS}]
        message = _message(messages, streamed)
        [call] = message.tool_calls
        content = get_weather(**json.loads(call.function.arguments))
        messages += [message, {"role": "tool", "tool_call_id": call.id, "content": content}]
        expect_both_results(_message(messages, streamed).content)


def _message(messages, streamed):
    answer = _ask(messages=messages, tools=[GET_WEATHER], extra_headers=SERVER_TOOLS, stream=streamed)
    if streamed:
        answer = litellm.stream_chunk_builder(list(answer), messages=messages)
    return answer.choices[0].message


def error_before() -> None:
    """An error before the first token is LiteLLM's exception of its status."""
    for model, kind in (
        ("unknown/model", litellm.NotFoundError),
        ("openai/sim-context-100", litellm.ContextWindowExceededError),
    ):
        for streamed in (False, True):
            try:
                _ask(model, messages=[{"role": "user", "content": "word " * 2000}], stream=streamed)
            except kind:
                continue
            raise AssertionError(f"{model}: no {kind.__name__}")


def error_after() -> None:
    """An error after the first token is raised, too."""
    text = ""
    try:
        for chunk in _ask("openai/sim-midstream-error", stream=True):
            text += chunk.choices[0].delta.content or ""
    except litellm.exceptions.MidStreamFallbackError as error:
        assert text
        assert "overloaded" in error.message
    else:
        raise AssertionError("no error")


def abort() -> None:
    """Closing the response cancels the run."""
    chunks = _ask("openai/sim-stall", stream=True)
    run_id = next(chunks).id
    chunks.completion_stream.close()
    expect_cancelled(run_id)


report(whole, stream, server_tool, client_tool, error_before, error_after, abort)
