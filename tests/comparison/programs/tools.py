"""The tools of all programs: each execution is written to a file, and returns a text that no other returns."""

import asyncio
import json
import time
from uuid import uuid4

QUESTION = "Look."
HURRY = "Hurry up."
MODEL = "openai/sim"
SECRET = "secret path /srv/keys"
_SHORT, _LONG = 0.2, 3.0
# Seconds for which a program watches what happens after it has left a run.
WATCHED = 1.0


class Case:
    """The case that runs: where the model is called, and the file to which executions are written."""

    base_url = ""
    log = ""
    runs = 0


def _log(**fields: object) -> None:
    with open(Case.log, "a", encoding="utf-8") as file:  # noqa: PTH123 - one small append
        file.write(json.dumps({"at": time.time(), **fields}) + "\n")


async def _execute(name: str, arguments: dict[str, object], seconds: float = 0.0) -> str:
    result = uuid4().hex
    _log(event="started", result=result, tool=name, arguments=arguments)
    try:
        await asyncio.sleep(seconds)
    except BaseException:
        _log(event="cancelled", result=result)
        raise
    _log(event="ended", result=result)
    return result


async def look(path: str) -> str:
    """Look at a file.

    Args:
        path: The path of the file.
    """
    return await _execute("look", {"path": path})


async def wait(number: int) -> str:
    """Wait a short time.

    Args:
        number: The number of the call.
    """
    return await _execute("wait", {"number": number}, _SHORT)


async def work(number: int) -> str:
    """Work for a long time.

    Args:
        number: The number of the call.
    """
    return await _execute("work", {"number": number}, _LONG)


async def buy(count: int) -> str:
    """Buy screws.

    Args:
        count: How many.
    """
    await _execute("buy", {"count": count})
    raise ValueError(SECRET)


async def price(item: str) -> str:
    """Look up what an item costs.

    Args:
        item: The name of the item.
    """
    return f"{item}: 3 USD"


FUNCTIONS = (look, wait, work, buy)
