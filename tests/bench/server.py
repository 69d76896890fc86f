"""The server under test: `signalbox serve` as it is, with one more tool."""

import sys
from functools import partial

from signalbox.app import serve
from signalbox.app.main import create_app
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec

from tests.bench.control import answer_in_background

_PARAMETERS: JsonObject = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def _work(arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Take no time at all: the loop is measured, not a tool."""
    return {"characters": len(str(arguments["text"]))}


if __name__ == "__main__":
    answer_in_background()
    work = Tool(ToolSpec("work", "Counts the characters of a text.", _PARAMETERS, eager=True), _work)
    serve.create_app = partial(create_app, extra_tools=(work,))
    sys.exit(serve.serve("127.0.0.1", 0))
