"""Runs a coroutine up to its first suspension without a task.

An ASGI `send` suspends only while the client reads too slowly. Waking a task for each event costs a third of a paced
event (docs/performance.md). Python 3.12 has eager tasks; this is the part of them that streams need.
"""

import asyncio
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any


def start_eagerly(work: Coroutine[Any, Any, None]) -> "asyncio.Task[None] | None":
    """Run a coroutine until it suspends; return a task for the rest, or None if it has finished.

    Raises what the coroutine raises before it suspends.
    """
    try:
        awaited = work.send(None)
    except StopIteration:
        return None
    return asyncio.ensure_future(_rest(work, awaited))


@coroutine
def _rest(work: Coroutine[Any, Any, None], awaited: Any) -> Generator[Any, Any, None]:
    """Continue a coroutine that is suspended on `awaited`."""
    while True:
        raised: BaseException | None = None
        try:
            yield awaited
        except BaseException as error:  # noqa: BLE001 - raised in the coroutine, a cancellation too
            raised = error
        try:
            awaited = work.send(None) if raised is None else work.throw(raised)
        except StopIteration:
            return
