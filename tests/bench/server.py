"""The server under test: `signalbox serve` as it is, with one more tool; `--without-journal`: it keeps no run."""

import asyncio
import math
import sys
from collections.abc import Callable
from functools import partial

from signalbox.app.process.gc_tuning import uncollected

with uncollected():  # as the command imports it
    from signalbox.app import main
    from signalbox.app.main import create_app
    from signalbox.core.messages import JsonObject, JsonValue
    from signalbox.core.tools import Tool, ToolContext, ToolSpec
    from signalbox.server import serve
    from signalbox.store.database import Database
    from signalbox.store.runs.in_memory import MemoryStore
    from signalbox.store.runs.leases import Sharing
    from signalbox.tools.plugin_thread import PluginThread
    from signalbox.tools.plugin_tool import isolated

    from tests.bench.cpu_reporting import report_cpu_in_background
    from tests.support.hostile.tool_results import RESULTS

_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "ms": {"type": "integer"}},
    "required": ["text"],
}


async def _work(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Take as long as the arguments say, which is mostly no time at all: the loop is measured, not a tool."""
    if milliseconds := arguments.get("ms"):
        await asyncio.sleep(int(str(milliseconds)) / 1000)
    return {"characters": len(str(arguments["text"]))}


_HOSTILE: JsonObject = {
    "type": "object",
    "properties": {"kind": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["kind", "size"],
}


async def _hostile(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Return what `just bench-stalls` asks for; made in a thread, since only what becomes of it is measured."""
    return await asyncio.to_thread(RESULTS[str(arguments["kind"])], int(str(arguments["size"])))


class NoJournalStore(MemoryStore):
    """In the place of the journal's store: nothing goes to a disk, and a run that is over is forgotten."""

    max_bytes = math.inf
    on_full: Callable[[str], None] | None = None

    def __init__(self, database: Database, sharing: Sharing | None = None) -> None:
        super().__init__()

    def close(self, run_id: str) -> None:
        """Forget the run: a heap that only grows would make what is compared with slower."""
        self.discard(run_id)

    async def aclose(self) -> None:
        """Nothing is left to write."""


def disable_journal() -> None:
    """Have the app keep its runs in memory, and only while they go on."""
    main.JournalStore = NoJournalStore


if __name__ == "__main__":
    report_cpu_in_background()
    if "--without-journal" in sys.argv[1:]:
        disable_journal()
    work = Tool(ToolSpec("work", "Counts the characters of a text.", _PARAMETERS, eager=True), _work)
    returns, plugin_returns = (
        Tool(ToolSpec(name, "Returns something hostile.", _HOSTILE), _hostile) for name in ("returns", "plugin_returns")
    )
    plugin_returns = isolated(plugin_returns, PluginThread("bench"))
    serve.create_app = partial(create_app, extra_tools=(work, returns, plugin_returns))
    sys.exit(serve.serve("127.0.0.1", 0))
