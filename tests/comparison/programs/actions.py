"""Runs the actions that are named on standard input, one after the other, and prints what the program saw as JSON."""

import asyncio
import json
import logging
import sys
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

from tools import QUESTION, Case, look, price

Action = Callable[[], Awaitable[Any]]
# Asks a question, runs the tools, and returns the answer; the runs share connections.
Ask = Callable[[str], Awaitable[str]]
Open = Callable[[Sequence[Any]], AbstractAsyncContextManager[Ask]]
_WARM_UP = 20


def main(actions: Mapping[str, Action], opened: Open) -> None:
    """Run the action of each line; each runs in a new event loop. `opened` takes functions as tools."""
    actions = {**actions, "cost": partial(_cost, opened), "crowd": partial(_crowd, opened)}
    logging.disable()
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        given = json.loads(line)
        Case.base_url, Case.log, Case.runs = given["base_url"], given["log"], given.get("runs", 0)
        action = actions.get(given["action"])
        print(json.dumps(_run(action) if action else {"not_offered": True}), flush=True)


def _run(action: Action) -> dict[str, Any]:
    """Run one action. It returns what it saw; an exception is what the caller of the library gets."""
    seen: dict[str, Any] = {}
    try:
        seen["value"] = asyncio.run(_timed(action, seen))
    except BaseException as error:  # noqa: BLE001 - all of them are results
        seen["error"] = type(error).__name__
        seen["message"] = str(error)[:300]
    return seen


async def _cost(opened: Open) -> float:
    """Return the CPU seconds of a run, with its share of all threads of the process."""
    async with opened([price]) as ask:
        for _ in range(_WARM_UP):
            await ask(QUESTION)
        began = time.process_time()
        for _ in range(Case.runs):
            await ask(QUESTION)
        return (time.process_time() - began) / Case.runs


async def _crowd(opened: Open) -> int:
    """Run many runs at the same time; return how many gave their answer."""
    async with opened([look]) as ask:
        answers = await asyncio.gather(*(ask(f"Look at {number}.") for number in range(Case.runs)))
    return sum(answer == f"Seen {number}." for number, answer in enumerate(answers))


async def _timed(action: Action, seen: dict[str, Any]) -> Any:
    try:
        return await action()
    finally:
        seen["ended"] = time.time()
