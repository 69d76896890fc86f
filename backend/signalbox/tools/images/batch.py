"""Several images of one call: made concurrently, each with its result or error."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import ToolReturn
from signalbox.core.workspace import FileVersion

AT_ONCE = 5
# Images that are ready by then are kept, so it is less than the timeout of the tools.
SECONDS = 240.0
TIMEOUT = 260.0
_LONGEST_REASON = 300


class Item(Struct, frozen=True):
    """One image to make: `label` names it in the result (`{"prompt": …}`), `make` makes and stores it."""

    label: JsonObject
    make: Callable[[], Awaitable[FileVersion]]


async def make_all(items: Sequence[Item], seconds: float = SECONDS) -> ToolReturn:
    """Make all images; raises ToolError if none was made. Cancelling this ends all requests."""
    slots = asyncio.Semaphore(AT_ONCE)
    tasks = [asyncio.create_task(_make(item, slots)) for item in items]
    try:
        await asyncio.wait(tasks, timeout=seconds)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    late = ToolError(Code.TIMEOUT, f"The image was not ready within {seconds:g} s.")
    return _returned(items, [late if task.cancelled() else task.result() for task in tasks])


async def _make(item: Item, slots: asyncio.Semaphore) -> FileVersion | ToolError:
    async with slots:
        try:
            return await item.make()
        except ToolError as error:
            return error


def _returned(items: Sequence[Item], outcomes: Sequence[FileVersion | ToolError]) -> ToolReturn:
    pairs = [*zip(items, outcomes, strict=True)]
    listed: list[JsonValue] = [item.label | _outcome(outcome) for item, outcome in pairs]
    shown: list[JsonValue] = [item.label | _outcome(outcome) | _facts(outcome) for item, outcome in pairs]
    artifact: JsonObject = {"type": "images", "images": shown}
    errors = [outcome for outcome in outcomes if isinstance(outcome, ToolError)]
    if len(errors) == len(outcomes):
        raise ToolError(_code_of(errors), _failure(errors), artifact=artifact)
    return ToolReturn({"images": listed}, artifact)


def _outcome(outcome: FileVersion | ToolError) -> JsonObject:
    return {"error": outcome.message} if isinstance(outcome, ToolError) else {"path": outcome.path}


def _facts(outcome: FileVersion | ToolError) -> JsonObject:
    """Return what only people see."""
    if isinstance(outcome, ToolError):
        return {"code": str(outcome.code)}
    return {"version": outcome.version, "size": outcome.size}


def _code_of(errors: Sequence[ToolError]) -> Code:
    codes = {error.code for error in errors}
    return codes.pop() if len(codes) == 1 else Code.TOOL_FAILED


def _failure(errors: Sequence[ToolError]) -> str:
    reasons = " ".join(dict.fromkeys(error.message for error in errors))
    return f"No image was made. {reasons[:_LONGEST_REASON]}"
