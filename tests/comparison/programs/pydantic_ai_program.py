"""The cases with pydantic-ai, which streams from chat completions."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from actions import Ask, main
from openai import AsyncOpenAI
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from tools import FUNCTIONS, HURRY, MODEL, QUESTION, WATCHED, Case


def new_agent(**options: Any) -> Agent:
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=Case.base_url, api_key="none"))
    return Agent(model, tools=FUNCTIONS, **options)


async def drain(_: Any, events: Any) -> None:
    async for _ in events:
        pass


async def step(run: Any, node: Any) -> None:
    """Stream one node: a reply of the model, or the execution of its calls."""
    if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
        async with node.stream(run.ctx) as events:
            async for _ in events:
                pass


@asynccontextmanager
async def opened(functions: Sequence[Any]) -> AsyncGenerator[Ask]:
    async with AsyncOpenAI(base_url=Case.base_url, api_key="none") as client:
        agent = Agent(OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client)), tools=functions)

        async def ask(question: str) -> str:
            return (await agent.run(question, event_stream_handler=drain)).output

        yield ask


async def finish() -> str:
    return (await new_agent().run(QUESTION, event_stream_handler=drain)).output


async def finish_in_two() -> str:
    limits = UsageLimits(request_limit=2)
    return (await new_agent().run(QUESTION, event_stream_handler=drain, usage_limits=limits)).output


async def change_parameters() -> str:
    agent = new_agent(model_settings=lambda ctx: {"max_tokens": 100 + ctx.run_step - 1})
    return (await agent.run(QUESTION, event_stream_handler=drain)).output


async def append() -> str:
    async with new_agent().iter(QUESTION) as run:
        async for node in run:
            if Agent.is_call_tools_node(node) and any(
                part.part_kind == "tool-call" for part in node.model_response.parts
            ):
                run.enqueue(HURRY)
            await step(run, node)
    return run.result.output


async def results_and_append() -> str:
    async with new_agent().iter(QUESTION) as run:
        async for node in run:
            await step(run, node)
            if Agent.is_call_tools_node(node) and any(
                part.part_kind == "tool-call" for part in node.model_response.parts
            ):
                run.enqueue(HURRY)
    return run.result.output


async def follow_up() -> str:
    number = 0
    async with new_agent().iter(QUESTION) as run:
        async for node in run:
            await step(run, node)
            if Agent.is_call_tools_node(node):
                number += 1
                if number == 1:
                    run.enqueue(HURRY)
    return run.result.output


async def _read_some(run: Any) -> float:
    async for node in run:
        if Agent.is_model_request_node(node):
            async with node.stream(run.ctx) as stream:
                async for event in stream:
                    if event.event_kind == "part_start":
                        return time.time()
    return 0.0


async def leave() -> float:
    async def first_text() -> float:
        async with new_agent().iter(QUESTION) as run:
            return await _read_some(run)

    left = await first_text()
    await asyncio.sleep(WATCHED)
    return left


async def stop() -> float:
    async with new_agent().iter(QUESTION) as run:

        async def drive() -> None:
            async for node in run:
                await step(run, node)

        task = asyncio.create_task(drive())
        await asyncio.sleep(WATCHED)
        run.cancel()
        stopped = time.time()
        await asyncio.wait({task})
        await asyncio.sleep(WATCHED)
        return stopped


async def iterate_twice() -> int:
    async with new_agent().iter(QUESTION) as run:
        async for node in run:
            await step(run, node)
        return len([node async for node in run])


async def fail() -> dict[str, object]:
    async with new_agent().iter(QUESTION) as run:
        try:
            async for node in run:
                await step(run, node)
        except Exception:  # noqa: BLE001 - of any kind
            return {"tokens": run.usage.total_tokens}
    return {}


main(
    {
        "finish": finish,
        "finish in two": finish_in_two,
        "change parameters": change_parameters,
        "append": append,
        "results and append": results_and_append,
        "follow up": follow_up,
        "leave": leave,
        "leave and close": leave,
        "stop": stop,
        "iterate twice": iterate_twice,
        "fail": fail,
    },
    opened,
)
