"""A tool that writes and reads files of a conversation, and scripts of a provider that calls it."""

import json
from dataclasses import replace
from typing import Any

from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext

from tests.support.fakes import make_tool
from tests.support.scripted_upstream import DONE, Exchange, Script, call_chunk, chunk


def note_tool() -> Tool:
    """Make a tool that writes a file if it gets a text, and returns all files of the branch."""

    async def work(arguments: JsonObject, context: ToolContext) -> Any:
        workspace = context.workspace
        assert workspace is not None
        if "text" in arguments:
            async with workspace.locked():
                await workspace.write(str(arguments["path"]), str(arguments["text"]).encode())
        found = [await workspace.find(one.path) for one in await workspace.files()]
        return {one.version.path: one.text for one in found if one is not None}

    made = make_tool("note", work)
    return Tool(replace(made.spec, needs_workspace=True, on_request=True), made.run)


def notes(**arguments: str) -> Script:
    """Make a script that calls the tool."""

    async def script(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.send(call_chunk("note", json.dumps(arguments)))
        await exchange.send(chunk({}, finish="tool_calls") + DONE)
        await exchange.raw(b"0\r\n\r\n")

    return script


async def done(exchange: Exchange) -> None:
    """Answer in words."""
    await exchange.head()
    await exchange.send_text("Done.")
    await exchange.end()
