"""The cases with Signalbox's Runner."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from actions import Ask, main
from signalbox import Content, RunError, Runner, Upstream, tool, user
from tools import FUNCTIONS, HURRY, MODEL, QUESTION, WATCHED, Case

TOOLS = [tool(function) for function in FUNCTIONS]


def new_run(**options: Any) -> Runner:
    return Runner(Upstream(Case.base_url), MODEL, QUESTION, tools=TOOLS, **options)


@asynccontextmanager
async def opened(functions: Sequence[Any]) -> AsyncGenerator[Ask]:
    tools = [tool(function) for function in functions]
    async with Upstream(Case.base_url) as upstream:

        async def ask(question: str) -> str:
            return (await Runner(upstream, MODEL, question, tools=tools).answer()).text

        yield ask


async def finish() -> str:
    return (await new_run().answer()).text


async def finish_in_two() -> str:
    return (await new_run(max_steps=2).answer()).text


async def change_parameters() -> str:
    run = new_run(max_tokens=100)
    async for step in run:
        run.set(max_tokens=100 + step.number)
    return (await run.answer()).text


async def append() -> str:
    run = new_run()
    async for step in run:
        if step.calls:
            run.append(user(HURRY))
    return (await run.answer()).text


async def results_and_append() -> str:
    run = new_run()
    async for step in run:
        if step.calls:
            await step.results()
            run.append(user(HURRY))
    return (await run.answer()).text


async def replace() -> str:
    run = new_run()
    async for step in run:
        if step.calls:
            run.replace(HURRY)
    return (await run.answer()).text


async def follow_up() -> str:
    run = new_run()
    async for step in run:
        if step.number == 1:
            run.append(user(HURRY))
    return (await run.answer()).text


async def leave() -> float:
    async for event in new_run().events():
        if isinstance(event, Content):
            break
    left = time.time()
    await asyncio.sleep(WATCHED)
    return left


async def leave_and_close() -> float:
    async with new_run() as run:
        async for event in run.events():
            if isinstance(event, Content):
                break
        left = time.time()
    await asyncio.sleep(WATCHED)
    return left


async def stop() -> float:
    run = new_run()
    task = asyncio.create_task(run.answer())
    await asyncio.sleep(WATCHED)
    run.stop()
    stopped = time.time()
    await task
    await asyncio.sleep(WATCHED)
    return stopped


async def iterate_twice() -> int:
    run = new_run()
    async for _ in run:
        pass
    return len([step async for step in run])


async def fail() -> dict[str, object]:
    run = new_run()
    try:
        await run.answer()
    except RunError as error:
        usage = error.answer.usage
        return {"tokens": usage.input + usage.output if usage else None, "cost": error.answer.cost}
    return {}


main(
    {
        "finish": finish,
        "finish in two": finish_in_two,
        "change parameters": change_parameters,
        "append": append,
        "results and append": results_and_append,
        "replace": replace,
        "follow up": follow_up,
        "leave": leave,
        "leave and close": leave_and_close,
        "stop": stop,
        "iterate twice": iterate_twice,
        "fail": fail,
    },
    opened,
)
