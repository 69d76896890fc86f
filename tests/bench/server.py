"""The server under test: `signalbox serve` with additional tools; `--without-journal` stores no runs."""

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
    """Sleep for the milliseconds in the arguments, if any."""
    if milliseconds := arguments.get("ms"):
        await asyncio.sleep(int(str(milliseconds)) / 1000)
    return {"characters": len(str(arguments["text"]))}


_HOSTILE: JsonObject = {
    "type": "object",
    "properties": {"kind": {"type": "string"}, "size": {"type": "integer"}},
    "required": ["kind", "size"],
}


async def _hostile(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Return a hostile result for `just bench-stalls`; a thread makes it, so that making it does not block the loop."""
    return await asyncio.to_thread(RESULTS[str(arguments["kind"])], int(str(arguments["size"])))


class NoJournalStore(MemoryStore):
    """Replaces JournalStore: writes nothing to disk and drops finished runs."""

    max_bytes = math.inf
    on_full: Callable[[str], None] | None = None

    def __init__(self, database: Database, sharing: Sharing | None = None) -> None:
        super().__init__()

    def close(self, run_id: str) -> None:
        """Drop the run; a growing heap would slow down this server."""
        self.discard(run_id)

    async def aclose(self) -> None:
        """Do nothing: there is no unwritten data."""


def disable_journal() -> None:
    """Make the app keep active runs in memory and drop them at their end."""
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
    write = Tool(ToolSpec("write", "Writes a text.", _PARAMETERS, previewed=("/text",)), _work)
    serve.create_app = partial(create_app, extra_tools=(work, write, returns, plugin_returns))
    sys.exit(serve.serve("127.0.0.1", 0))
