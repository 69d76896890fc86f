"""The tool that reads a text file."""

from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.tools.files.excerpt import RANGE, excerpt
from signalbox.tools.files.outcome import text_file, workspace_of

SPEC = ToolSpec(
    name="read_file",
    title="Read a file",
    summary="Reads a file of this conversation.",
    description="Read a text file of this conversation as it is now. A long file needs several calls with from_line.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The path of a file that exists."}, **RANGE},
        "required": ["path"],
    },
    side_effects=False,
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def read_file() -> Tool:
    """Return the tool. It is not eager: it must read what earlier calls of the same step write."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> JsonObject:
    workspace = workspace_of(context)
    async with workspace.locked():
        file, text = await text_file(workspace, str(arguments["path"]))
    return excerpt(file, text, arguments)
