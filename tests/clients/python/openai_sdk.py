"""The `openai` package: whole answers and streams, both sides' tools, errors, an abort."""

import asyncio
import json
import os

import openai
from checks import (
    BASE_URL,
    BOTH_TOOLS,
    CALCULATE,
    CALCULATION,
    GET_WEATHER,
    MODEL,
    URL,
    expect_both_results,
    expect_cancelled,
    get_weather,
    newest_run,
    report,
    run_of,
)
from openai import AsyncOpenAI, OpenAI

os.environ.pop("OPENAI_API_KEY", None)
CLIENT = OpenAI(base_url=BASE_URL, api_key="unused", max_retries=0)
QUESTION = [{"role": "user", "content": CALCULATION}]


def whole() -> None:
    """The answer, its usage and its reasoning; the id is the run's."""
    raw = CLIENT.chat.completions.with_raw_response.create(model=MODEL, messages=QUESTION, reasoning_effort="low")
    answer = raw.parse()
    assert answer.id == raw.headers["x-run-id"]
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    assert answer.usage.completion_tokens_details.reasoning_tokens > 0
    assert choice.message.reasoning_content
    assert run_of(answer.id)["protocol"] == "chat-completions"


def stream() -> None:
    """The same in pieces; the usage is a chunk without choices."""
    options = {"include_usage": True}
    chunks = list(CLIENT.chat.completions.create(model=MODEL, messages=QUESTION, stream=True, stream_options=options))
    assert len({chunk.id for chunk in chunks}) == 1
    assert len(chunks) > 3
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens > 0
    assert "391" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1])


def server_tool() -> None:
    """Our tool runs inside the answer, which shows no call."""
    [choice] = CLIENT.chat.completions.create(model=MODEL, messages=QUESTION).choices
    assert "391" in choice.message.content
    assert choice.message.tool_calls is None


def client_tool() -> None:
    """A call of the client's tool is handed over, ours in the same step runs before; the answer uses both results."""
    for streamed in (False, True):
        messages = [{"role": "user", "content": BOTH_TOOLS}]
        first = _answer(messages, streamed)
        assert first.finish_reason == "tool_calls"
        [call] = first.message.tool_calls
        assert call.function.name == "get_weather"
        messages.append(first.message.model_dump(exclude_none=True))
        messages.append(
            {"role": "tool", "tool_call_id": call.id, "content": get_weather(**json.loads(call.function.arguments))}
        )
        expect_both_results(_answer(messages, streamed).message.content)


def _answer(messages, streamed):
    request = {"model": MODEL, "messages": messages, "tools": [GET_WEATHER, CALCULATE]}
    if not streamed:
        return CLIENT.chat.completions.create(**request).choices[0]
    with CLIENT.chat.completions.stream(**request) as events:
        return events.get_final_completion().choices[0]


def conversation() -> None:
    """With `x-conversation-id`, the server keeps the history."""
    created = CLIENT.post(f"{URL}/api/conversations", cast_to=object, body={})
    headers = {"x-conversation-id": created["id"]}
    CLIENT.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "What time is it in Tokyo?"}], extra_headers=headers
    )
    second = CLIENT.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "And in Lima?"}], extra_headers=headers
    )
    assert "Lima" in second.choices[0].message.content


def models() -> None:
    """The list has ids with slashes, and each can be retrieved."""
    ids = [model.id for model in CLIENT.models.list()]
    assert MODEL in ids
    assert CLIENT.models.retrieve(MODEL).id == MODEL


def error_before() -> None:
    """An error before the first token is the exception of its status."""
    for model, kind, code in (
        ("unknown/model", openai.NotFoundError, "model_not_found"),
        ("openai/sim-context-100", openai.BadRequestError, "context_length_exceeded"),
        ("openai/sim-error-402", openai.RateLimitError, "insufficient_quota"),
    ):
        for streamed in (False, True):
            error = _error(kind, model=model, messages=[{"role": "user", "content": "word " * 2000}], stream=streamed)
            assert error.code == code, error.code
            assert error.request_id


def bad_request() -> None:
    """A malformed request names its field and starts nothing."""
    assert _error(openai.BadRequestError, model=MODEL, messages=QUESTION, n=2).param == "n"


def _error(kind, **request):
    try:
        CLIENT.chat.completions.create(**request)
    except kind as error:
        return error
    raise AssertionError(f"{request['model']}: no {kind.__name__}")


def error_after() -> None:
    """An error after the first token is raised while the stream is read, with what came before."""
    text = ""
    try:
        for chunk in CLIENT.chat.completions.create(model="openai/sim-midstream-error", messages=QUESTION, stream=True):
            text += chunk.choices[0].delta.content or ""
    except openai.APIError as error:
        assert text
        assert "overloaded" in error.message
        return
    raise AssertionError("no error")


def abort() -> None:
    """Closing a stream, or cancelling a whole request, cancels the run."""
    request = {"model": "openai/sim-stall", "messages": QUESTION}
    with CLIENT.chat.completions.create(**request, stream=True) as chunks:
        run_id = next(iter(chunks)).id
    expect_cancelled(run_id)
    before = newest_run()

    async def cancelled() -> str:
        async with AsyncOpenAI(base_url=BASE_URL, api_key="unused", max_retries=0) as client:
            task = asyncio.create_task(client.chat.completions.create(**request))
            while (run_id := await asyncio.to_thread(newest_run)) == before:
                pass
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return run_id

    expect_cancelled(asyncio.run(cancelled()))


report(whole, stream, server_tool, client_tool, conversation, models, error_before, bad_request, error_after, abort)
