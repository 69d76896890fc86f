"""Our server as `signalbox serve` runs it, with a tool `work` that takes as long as it is told."""

import asyncio
import sys
from functools import partial

from signalbox.app import serve
from signalbox.app.main import create_app
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec

_PARAMETERS: JsonObject = {"type": "object", "properties": {"ms": {"type": "number"}, "text": {"type": "string"}}}


async def _work(arguments: JsonObject, context: ToolContext) -> JsonValue:
    milliseconds = arguments.get("ms")
    if isinstance(milliseconds, int | float) and milliseconds:
        await asyncio.sleep(milliseconds / 1000)
    return {"characters": len(str(arguments))}


if __name__ == "__main__":
    work = Tool(ToolSpec("work", "Works.", _PARAMETERS, eager=True), _work)
    serve.create_app = partial(create_app, extra_tools=(work,))
    sys.exit(serve.serve("127.0.0.1", 0))
