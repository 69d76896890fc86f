"""The cases with the tool runner of Anthropic's SDK, which streams.

`thread=False` makes it send the whole history, so that the upstream sees what the model would read.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from actions import Ask, main
from anthropic import AsyncAnthropic, beta_async_tool
from tools import FUNCTIONS, HURRY, QUESTION, WATCHED, Case

TOOLS = [beta_async_tool(function) for function in FUNCTIONS]
USER = {"role": "user", "content": HURRY}


def new_runner(**options: Any) -> Any:
    client = AsyncAnthropic(base_url=Case.base_url, api_key="none")
    given = {"max_tokens": 1000, "messages": [{"role": "user", "content": QUESTION}], **options}
    return client.beta.messages.tool_runner(model="sim", tools=TOOLS, stream=True, thread=False, **given)


async def text_of(runner: Any) -> str:
    message = await runner.until_done()
    return "".join(block.text for block in message.content if block.type == "text")


@asynccontextmanager
async def opened(functions: Sequence[Any]) -> AsyncGenerator[Ask]:
    tools = [beta_async_tool(function) for function in functions]
    async with AsyncAnthropic(base_url=Case.base_url, api_key="none") as client:

        async def ask(question: str) -> str:
            messages = [{"role": "user", "content": question}]
            given = {"model": "sim", "max_tokens": 1000, "messages": messages, "tools": tools, "stream": True}
            return await text_of(client.beta.messages.tool_runner(**given, thread=False))

        yield ask


async def finish() -> str:
    return await text_of(new_runner())


async def finish_in_two() -> str:
    return await text_of(new_runner(max_iterations=2))


async def change_parameters() -> str:
    runner = new_runner(max_tokens=100)
    number = 0
    async for stream in runner:
        await stream.get_final_message()
        number += 1
        limit = 100 + number
        runner.set_messages_params(lambda params, limit=limit: {**params, "max_tokens": limit})
    return await text_of(runner)


async def append() -> str:
    runner = new_runner()
    async for stream in runner:
        message = await stream.get_final_message()
        if message.stop_reason == "tool_use":
            runner.append_messages(USER)
    return await text_of(runner)


async def results_and_append() -> str:
    runner = new_runner()
    async for stream in runner:
        message = await stream.get_final_message()
        if message.stop_reason == "tool_use":
            runner.append_messages(message, await runner.generate_tool_call_response(), USER)
    return await text_of(runner)


async def replace() -> str:
    runner = new_runner()
    async for stream in runner:
        message = await stream.get_final_message()
        if message.stop_reason == "tool_use":
            runner.set_messages_params(lambda params: {**params, "messages": [USER]})
    return await text_of(runner)


async def follow_up() -> str:
    runner = new_runner()
    number = 0
    async for stream in runner:
        await stream.get_final_message()
        number += 1
        if number == 1:
            runner.append_messages(USER)
    return await text_of(runner)


async def _read_some(runner: Any) -> float:
    async for stream in runner:
        async for event in stream:
            if event.type == "text":
                break
        break
    return time.time()


async def leave() -> float:
    left = await _read_some(new_runner())
    await asyncio.sleep(WATCHED)
    return left


async def leave_and_close() -> float:
    runner = new_runner()
    left = await _read_some(runner)
    await runner.close()
    await asyncio.sleep(WATCHED)
    return left


async def stop() -> float:
    runner = new_runner()
    task = asyncio.create_task(runner.until_done())
    await asyncio.sleep(WATCHED)
    await runner.close()
    stopped = time.time()
    await asyncio.wait({task}, timeout=WATCHED)
    return stopped


async def iterate_twice() -> int:
    runner = new_runner()
    async for stream in runner:
        await stream.get_final_message()
    return len([stream async for stream in runner])


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
    },
    opened,
)
