"""Runs the actions that are named on standard input, one after the other, and prints what the program saw as JSON."""

import asyncio
import json
import logging
import sys
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tools import Case

Action = Callable[[], Awaitable[Any]]


def main(actions: Mapping[str, Action]) -> None:
    """Run the action of each line; each runs in a new event loop."""
    logging.disable()
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        given = json.loads(line)
        Case.base_url, Case.log = given["base_url"], given["log"]
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


async def _timed(action: Action, seen: dict[str, Any]) -> Any:
    try:
        return await action()
    finally:
        seen["ended"] = time.time()
