"""Running a coroutine up to its first real wait, right here: what does not wait needs no task.

An ASGI `send` is a coroutine, and waits only while the client reads too slowly. A task that is woken for each event
costs a third of a paced one (docs/performance.md). Python 3.12 knows eager tasks; this is what is used of them.
"""

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any


def begin(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
    """Run some work as far as it goes without waiting; return a task for the rest, None where nothing is left.

    Raises what the work raises before it waits.
    """
    try:
        awaited = work.send(None)
    except StopIteration:
        return None
    return asyncio.ensure_future(_rest(work, awaited))


@coroutine
def _rest(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """Go on with work that has begun to wait for something."""
    while True:
        raised: BaseException | None = None
        try:
            yield awaited
        except BaseException as error:  # noqa: BLE001 - also a cancellation is for the work itself
            raised = error
        try:
            awaited = work.send(None) if raised is None else work.throw(raised)
        except StopIteration:
            return
