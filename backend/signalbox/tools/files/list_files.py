"""The tool that lists the files of a conversation."""

from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.tools.files.outcome import workspace_of

SPEC = ToolSpec(
    name="list_files",
    title="List files",
    summary="Lists the files of this conversation.",
    description="List the files of this conversation: path, version, size in bytes, and who wrote it last.",
    parameters={"type": "object", "properties": {}, "required": []},
    side_effects=False,
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def list_files() -> Tool:
    """Return the tool."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> JsonObject:
    workspace = workspace_of(context)
    async with workspace.locked():
        files = await workspace.files()
    return {
        "files": [
            {
                "path": file.path,
                "version": file.version,
                "size": file.size,
                "author": file.author,
            }
            for file in files
        ]
    }
