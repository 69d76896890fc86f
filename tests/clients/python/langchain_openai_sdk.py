"""LangChain's `ChatOpenAI` and its agent."""

import openai
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
    newest_run,
    report,
)
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI


def _model(name: str = MODEL, **more: object) -> ChatOpenAI:
    return ChatOpenAI(model=name, base_url=BASE_URL, api_key="unused", max_retries=0, **more)


def whole() -> None:
    """The answer with its usage."""
    answer = _model().invoke(CALCULATION)
    assert answer.response_metadata["finish_reason"] == "stop"
    assert answer.usage_metadata["total_tokens"] > 0


def stream() -> None:
    """The chunks add up to the answer, with usage."""
    chunks = list(_model().stream(CALCULATION, stream_usage=True))
    total = sum(chunks[1:], chunks[0])
    assert len(chunks) > 3
    assert "391" in total.content
    assert total.usage_metadata["total_tokens"] > 0


def server_tool() -> None:
    """Our tool runs inside the answer."""
    answer = _model().invoke(CALCULATION)
    assert "391" in answer.content
    assert not answer.tool_calls


def client_tool() -> None:
    """A call is handed over beside our tool, and the continuation uses both results."""
    model = _model(default_headers=SERVER_TOOLS).bind_tools([GET_WEATHER])
    messages = [HumanMessage(BOTH_TOOLS)]
    chunks = list(model.stream(messages))
    messages.append(sum(chunks[1:], chunks[0]))
    [call] = messages[-1].tool_calls
    assert (call["name"], call["args"]) == ("get_weather", {"city": "Lisbon"})
    messages.append(ToolMessage(get_weather("Lisbon"), tool_call_id=call["id"]))
    expect_both_results(model.invoke(messages).text)


def agent() -> None:
    """LangChain's agent executes its tool and ends with the answer."""
    loop = create_agent(_model(), tools=[get_weather])
    *_, answer = loop.invoke({"messages": [HumanMessage("Use get_weather for Lisbon.")]})["messages"]
    assert get_weather("Lisbon") in answer.text


def error_before() -> None:
    """An error before the first token is OpenAI's exception."""
    for ask in (lambda model: model.invoke("Hi"), lambda model: list(model.stream("Hi"))):
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
        for chunk in _model("openai/sim-midstream-error").stream("Hi"):
            text += chunk.text
    except openai.APIError:
        assert text
    else:
        raise AssertionError("no error")


def abort() -> None:
    """Closing the stream cancels the run."""
    chunks = _model("openai/sim-stall").stream("Hi")
    next(chunks)
    chunks.close()
    expect_cancelled(newest_run())


report(whole, stream, server_tool, client_tool, agent, error_before, error_after, abort)
