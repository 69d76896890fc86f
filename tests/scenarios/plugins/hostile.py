"""A package whose tools misbehave in many ways; tests install it into a real server."""

# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
# ruff: noqa: D103, ASYNC251, PLE0307 - what it does wrong is the point of it

import asyncio
import sys
import threading
import time

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.tools import Tool, ToolSpec

EMPTY = {"type": "object", "properties": {}}


class Odd:
    """An object whose every text and item raises SystemExit."""

    def __str__(self):
        sys.exit("str")

    __repr__ = __str__

    def __iter__(self):
        sys.exit("iter")


class OddError(ToolError):
    """A tool error with an invalid message and code."""

    def __init__(self):
        super().__init__(Code.TOOL_FAILED, "s3cret")
        self.code = Odd()
        self.message = Odd()


def raises(error):
    async def run(arguments, context):
        raise error

    return run


async def exits(arguments, context):
    sys.exit("s3cret")


async def exits_in_a_task(arguments, context):
    await asyncio.create_task(exits(arguments, context))


async def exits_in_a_callback(arguments, context):
    asyncio.get_running_loop().call_soon(sys.exit, "s3cret")
    await asyncio.sleep(0)
    return "went on"


async def leaves_a_task(arguments, context):
    asyncio.get_running_loop().kept = asyncio.create_task(raises(KeyboardInterrupt())(arguments, context))
    return "left"


async def starts_a_thread(arguments, context):
    thread = threading.Thread(target=sys.exit, args=("s3cret",))
    thread.start()
    thread.join()
    return "started"


async def stays(arguments, context):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def blocks(arguments, context):
    time.sleep(3600)


def blocks_in_sync(arguments, context):
    time.sleep(3600)


def plain(arguments, context):
    return "not async"


async def stops_the_loop(arguments, context):
    asyncio.get_running_loop().stop()
    return "stopped"


async def waits_in_a_thread(arguments, context):
    await asyncio.to_thread(time.sleep, 3600)


async def circle(arguments, context):
    made = []
    made.append(made)
    return made


async def odd(arguments, context):
    return {"odd": Odd()}


async def odd_key(arguments, context):
    return {Odd(): 1}


async def cancelled(arguments, context):
    raise asyncio.CancelledError


def broken_key(arguments):
    sys.exit("s3cret")


RUNS = {
    "exits": exits,
    "interrupts": raises(KeyboardInterrupt("s3cret")),
    "closes": raises(GeneratorExit("s3cret")),
    "cancelled": cancelled,
    "bottom": raises(BaseException("s3cret")),
    "stop_iteration": raises(StopAsyncIteration("s3cret")),
    "exits_in_a_task": exits_in_a_task,
    "exits_in_a_callback": exits_in_a_callback,
    "leaves_a_task": leaves_a_task,
    "starts_a_thread": starts_a_thread,
    "stops_the_loop": stops_the_loop,
    "plain": plain,
    "circle": circle,
    "odd": odd,
    "odd_key": odd_key,
    "odd_error": raises(OddError()),
    "calm": raises(ToolError(Code.RATE_LIMIT, "asked too often")),
}
SLOW = {"stays": stays, "waits_in_a_thread": waits_in_a_thread}
BLOCKING = {"blocks": blocks, "blocks_in_sync": blocks_in_sync}


def made(runs, timeout):
    return [Tool(ToolSpec(name, "Does harm.", EMPTY, timeout=timeout), run) for name, run in runs.items()]


def tools():
    """Return tools that return quickly."""
    search = ToolSpec("finds", "Finds.", EMPTY, category="search", search_key=broken_key)
    return [*made(RUNS, 10.0), *made(SLOW, 0.3), Tool(search, plain)]


def blocking():
    """Return tools that block their thread forever."""
    return made(BLOCKING, 0.3)


def bad_specs():
    """Return invalid specs."""
    unreadable = {"type": "object", "properties": {"n": {1, 2}}}
    deep = {"type": "object", "properties": {}}
    deep["properties"]["deep"] = deep
    return [
        Tool(ToolSpec(5, "A number.", EMPTY), plain),
        Tool(ToolSpec("about_nothing", Odd(), EMPTY), plain),
        Tool(ToolSpec("set_schema", "A set.", unreadable), plain),
        Tool(ToolSpec("deep_schema", "Itself.", deep), plain),
        Tool(ToolSpec("list_schema", "A list.", []), plain),
        Tool(ToolSpec("no_time", "Late.", EMPTY, timeout="soon"), plain),
        Tool(ToolSpec("for_ever", "Late.", EMPTY, timeout=float("inf")), plain),
        Tool(ToolSpec("odd_place", "Where?", EMPTY, category="nowhere"), plain),
        Tool(ToolSpec("odd_sight", "Where?", EMPTY, visibility=[]), plain),
        Tool(ToolSpec("odd_search", "Keyless.", EMPTY, search_key="key"), plain),
        Tool(ToolSpec("odd_url", "Where?", EMPTY, url_argument="there"), plain),
        Tool(ToolSpec("odd_title", "Titled.", EMPTY, title=Odd()), plain),
        Tool(ToolSpec("long_title", "Titled.", EMPTY, title="T" * 61), plain),
        Tool(ToolSpec("two_lines", "Summed up.", EMPTY, summary="One.\nTwo."), plain),
        Tool(ToolSpec("no_run", "Nothing.", EMPTY), None),
        Tool(ToolSpec("odd_reason", "Why?", EMPTY), plain, unavailable=Odd()),
        Tool(None, plain),
        Tool(ToolSpec("twice", "Once.", EMPTY), plain),
        Tool(ToolSpec("twice", "Twice.", EMPTY), plain),
        Tool(ToolSpec("no-name", "Not offered, and badly named.", EMPTY), plain, unavailable="no key"),
    ]


def leaves():
    """Raise SystemExit when called."""
    sys.exit("s3cret")


def lingers():
    """Never return."""
    threading.Event().wait()


def well():
    """Return one harmless tool."""
    return Tool(ToolSpec("well", "Does no harm.", EMPTY), plain)


ENTRIES = {
    "signalbox.tools": {
        "hostile": "hostile:tools",
        "blocking": "hostile:blocking",
        "bad": "hostile:bad_specs",
        "leaves": "hostile:leaves",
        "no_such": "hostile.nothing:here",
        "no_value": "hostile:tools:::",
    }
}
