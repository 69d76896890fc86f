"""The server to kill: `signalbox serve` with two more tools, one of which has an effect that tests count."""

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

from signalbox.app.main import create_app
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.server import serve

LINES = Path("lines")
_PARAMETERS: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


async def _keep_line(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Append a line to a file; without a file `open-<name>` the call then never ends, and `die` kills the server."""
    name = str(arguments["name"])
    if not await asyncio.to_thread(_write, name):
        await asyncio.Event().wait()
    return {"kept": name}


async def _look(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Work until cancelled."""
    await asyncio.Event().wait()


def _write(name: str) -> bool:
    with LINES.open("a") as lines:
        lines.write(f"{name}\n")
    if name == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return Path(f"open-{name}").exists()


if __name__ == "__main__":
    keep_line = Tool(ToolSpec("keep_line", "Keeps a line.", _PARAMETERS, timeout=60), _keep_line)
    look = Tool(ToolSpec("look", "Looks something up.", _PARAMETERS, eager=True, timeout=60), _look)
    serve.create_app = partial(create_app, extra_tools=(keep_line, look))
    sys.exit(serve.serve("127.0.0.1", 0))
