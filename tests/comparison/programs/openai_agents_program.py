"""The cases with openai-agents, which streams from chat completions."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from actions import Ask, main
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI
from tools import FUNCTIONS, HURRY, MODEL, QUESTION, WATCHED, Case

set_tracing_disabled(disabled=True)
TOOLS = [function_tool(function) for function in FUNCTIONS]


def new_agent() -> Agent:
    model = OpenAIChatCompletionsModel(MODEL, AsyncOpenAI(base_url=Case.base_url, api_key="none"))
    return Agent("Assistant", model=model, tools=TOOLS)


def start(given: Any = QUESTION, **options: Any) -> Any:
    return Runner.run_streamed(new_agent(), given, **options)


async def drain(result: Any) -> str:
    async for _ in result.stream_events():
        pass
    return str(result.final_output)


@asynccontextmanager
async def opened(functions: Sequence[Any]) -> AsyncGenerator[Ask]:
    async with AsyncOpenAI(base_url=Case.base_url, api_key="none") as client:
        model = OpenAIChatCompletionsModel(MODEL, client)
        agent = Agent("Assistant", model=model, tools=[function_tool(function) for function in functions])

        async def ask(question: str) -> str:
            return await drain(Runner.run_streamed(agent, question))

        yield ask


async def finish() -> str:
    return await drain(start())


async def finish_in_two() -> str:
    return await drain(start(max_turns=2))


async def take_turn(result: Any) -> bool:
    """Stop a run after its turn; return whether the turn has called tools, so that the run can be resumed."""
    has_calls = False
    async for event in result.stream_events():
        if event.type == "run_item_stream_event" and event.name == "tool_called":
            has_calls = True
            result.cancel(mode="after_turn")
    return has_calls


async def change_parameters() -> str:
    number = 100
    result = start(run_config=limited_to(number))
    while await take_turn(result):
        number += 1
        result = start(result.to_state(), run_config=limited_to(number))
    return str(result.final_output)


def limited_to(number: int) -> RunConfig:
    return RunConfig(model_settings=ModelSettings(max_tokens=number))


async def append() -> str:
    result = start()
    await take_turn(result)
    state = result.to_state()
    state.add_input(HURRY)
    return await drain(start(state))


async def results_and_append() -> str:
    result = start()
    await take_turn(result)
    assert [item.output for item in result.new_items if item.type == "tool_call_output_item"]
    state = result.to_state()
    state.add_input(HURRY)
    return await drain(start(state))


async def _read_some(result: Any) -> float:
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            break
    return time.time()


async def leave() -> float:
    result = start()
    left = await _read_some(result)
    await asyncio.sleep(WATCHED)
    return left


async def leave_and_close() -> float:
    result = start()
    left = await _read_some(result)
    result.cancel()
    await drain(result)
    await asyncio.sleep(WATCHED)
    return left


async def stop() -> float:
    result = start()
    task = asyncio.create_task(drain(result))
    await asyncio.sleep(WATCHED)
    result.cancel()
    stopped = time.time()
    await task
    await asyncio.sleep(WATCHED)
    return stopped


async def iterate_twice() -> int:
    result = start()
    await drain(result)
    return len([event async for event in result.stream_events()])


async def fail() -> dict[str, object]:
    result = start()
    try:
        await drain(result)
    except Exception:  # noqa: BLE001 - of any kind
        return {"tokens": result.context_wrapper.usage.total_tokens}
    return {}


main(
    {
        "finish": finish,
        "finish in two": finish_in_two,
        "change parameters": change_parameters,
        "append": append,
        "results and append": results_and_append,
        "leave": leave,
        "leave and close": leave_and_close,
        "stop": stop,
        "iterate twice": iterate_twice,
        "fail": fail,
    },
    opened,
)
