"""LlamaIndex's `OpenAILike` and its agent."""

import asyncio

import openai
from checks import (
    BASE_URL,
    BOTH_TOOLS,
    CALCULATION,
    MODEL,
    SERVER_TOOLS,
    expect_both_results,
    expect_cancelled,
    get_weather,
    newest_run,
    report,
)
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike


def _model(name: str = MODEL, **more: object) -> OpenAILike:
    return OpenAILike(
        model=name,
        api_base=BASE_URL,
        api_key="unused",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        **more,
    )


QUESTION = [ChatMessage(role="user", content=CALCULATION)]


def whole() -> None:
    """The answer with its usage."""
    answer = _model().chat(QUESTION)
    assert "391" in answer.message.content
    assert answer.raw.usage.total_tokens > 0


def stream() -> None:
    """The pieces add up to the answer; usage arrives without being asked for."""
    pieces = list(_model().stream_chat(QUESTION))
    assert "391" in "".join(piece.delta or "" for piece in pieces)
    assert pieces[-1].raw.usage.total_tokens > 0


def server_tool() -> None:
    """Our tool runs inside the answer."""
    model = _model()
    answer = model.chat(QUESTION)
    assert not model.get_tool_calls_from_response(answer, error_on_no_tool_call=False)


def client_tool() -> None:
    """A call is handed over beside our tool, and the continuation uses both results."""
    model = _model(default_headers=SERVER_TOOLS)
    tools = [FunctionTool.from_defaults(get_weather)]
    messages = [ChatMessage(role="user", content=BOTH_TOOLS)]
    answer = model.chat_with_tools(tools, chat_history=messages)
    [call] = model.get_tool_calls_from_response(answer)
    result = ChatMessage(
        role="tool", content=get_weather(**call.tool_kwargs), additional_kwargs={"tool_call_id": call.tool_id}
    )
    answer = model.chat_with_tools(tools, chat_history=[*messages, answer.message, result])
    expect_both_results(answer.message.content)


def agent() -> None:
    """LlamaIndex's agent, which streams, executes its tool and ends with the answer."""

    async def answer() -> str:
        loop = FunctionAgent(tools=[get_weather], llm=_model(default_headers=SERVER_TOOLS))
        return str(await loop.run(BOTH_TOOLS))

    expect_both_results(asyncio.run(answer()))


def error_before() -> None:
    """An error before the first token is OpenAI's exception."""
    for ask in (lambda model: model.chat(QUESTION), lambda model: list(model.stream_chat(QUESTION))):
        try:
            ask(_model("unknown/model"))
        except openai.NotFoundError as error:
            assert error.code == "model_not_found"
        else:
            raise AssertionError("no error")


def error_after() -> None:
    """An error after the first token is raised, too."""
    text = ""
    try:
        for piece in _model("openai/sim-midstream-error").stream_chat(QUESTION):
            text += piece.delta or ""
    except openai.APIError:
        assert text
    else:
        raise AssertionError("no error")


def abort() -> None:
    """Cancelling the task that reads the stream cancels the run."""

    async def read_stream() -> None:
        async for _ in await _model("openai/sim-stall").astream_chat(QUESTION):
            begun.set()

    async def cancelled() -> None:
        task = asyncio.create_task(read_stream())
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    begun = asyncio.Event()
    asyncio.run(cancelled())
    expect_cancelled(newest_run())


report(whole, stream, server_tool, client_tool, agent, error_before, error_after, abort)
