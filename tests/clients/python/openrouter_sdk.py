"""OpenRouter's own SDK: only its server's address changes."""

from checks import (
    BOTH_TOOLS,
    CALCULATION,
    GET_WEATHER,
    MODEL,
    SERVER_TOOLS,
    URL,
    expect_both_results,
    expect_cancelled,
    get_weather,
    report,
)
from openrouter import OpenRouter, errors
from openrouter.utils import BackoffStrategy, RetryConfig

NO_RETRY = RetryConfig("backoff", BackoffStrategy(1, 1, 1.0, 1), retry_connection_errors=False)
CLIENT = OpenRouter(api_key="unused", server_url=f"{URL}/api/v1", retry_config=NO_RETRY)
QUESTION = [{"role": "user", "content": CALCULATION}]


def whole() -> None:
    """The answer with usage, cost and reasoning details."""
    answer = CLIENT.chat.send(model=MODEL, messages=QUESTION, reasoning={"effort": "low"})
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert answer.usage.total_tokens > 0
    assert answer.usage.cost > 0
    assert choice.message.reasoning == choice.message.reasoning_details[0].text != ""


def stream() -> None:
    """The chunks have the reasoning and the text, the last one the usage."""
    with CLIENT.chat.send(model=MODEL, messages=QUESTION, stream=True, reasoning={"effort": "low"}) as events:
        chunks = list(events)
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert "391" in "".join(delta.content or "" for delta in deltas)
    assert "".join(delta.reasoning or "" for delta in deltas)
    assert chunks[-1].usage.cost > 0


def server_tool() -> None:
    """Our tool runs inside the answer."""
    [choice] = CLIENT.chat.send(model=MODEL, messages=QUESTION).choices
    assert "391" in choice.message.content
    assert not choice.message.tool_calls


def client_tool() -> None:
    """A call is handed over beside our tool, and the continuation uses both results."""
    messages = [{"role": "user", "content": BOTH_TOOLS}]
    request = {"model": MODEL, "tools": [GET_WEATHER], "http_headers": SERVER_TOOLS}
    [choice] = CLIENT.chat.send(messages=messages, **request).choices
    assert choice.finish_reason == "tool_calls"
    [call] = choice.message.tool_calls
    messages.append(choice.message)
    messages.append({"role": "tool", "tool_call_id": call.id, "content": get_weather("Lisbon")})
    expect_both_results(CLIENT.chat.send(messages=messages, **request).choices[0].message.content)


def error_before() -> None:
    """An error before the first token is the exception of its status."""
    for streamed in (False, True):
        try:
            CLIENT.chat.send(model="unknown/model", messages=QUESTION, stream=streamed)
        except errors.NotFoundResponseError as error:
            assert "unknown/model" in error.message
        else:
            raise AssertionError("no error")


def error_after() -> None:
    """An error after the first token is in the last chunk, as OpenRouter sends it."""
    with CLIENT.chat.send(model="openai/sim-midstream-error", messages=QUESTION, stream=True) as events:
        *_, last = events
    assert last.choices[0].finish_reason == "error"
    assert last.error.code == 503
    assert last.error.metadata.error_type == "provider_overloaded"


def abort() -> None:
    """Closing the stream cancels the run."""
    with CLIENT.chat.send(model="openai/sim-stall", messages=QUESTION, stream=True) as events:
        run_id = next(iter(events)).id
    expect_cancelled(run_id)


report(whole, stream, server_tool, client_tool, error_before, error_after, abort)
