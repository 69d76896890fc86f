"""The tool that writes a whole text file."""

import asyncio

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec
from signalbox.tools.files.line_diff import LineDiff, line_count, line_diff
from signalbox.tools.files.outcome import changed_artifact, created_artifact, workspace_of

_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif")

SPEC = ToolSpec(
    name="create_file",
    title="Create a file",
    summary="Writes a file of this conversation, such as a web page.",
    description=(
        "Create a text file, such as index.html, with its whole content. The user sees it grow while you write it. "
        "To change a file that exists, use edit_file; to write it anew, set overwrite to true."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A relative path such as index.html or css/site.css."},
            "content": {"type": "string", "description": "The whole text of the file, without a code fence."},
            "overwrite": {
                "type": "boolean",
                "description": "Whether to replace a file that exists. Default: false, which is an error then.",
            },
        },
        "required": ["path", "content"],
    },
    untrusted=False,
    on_request=True,
    needs_workspace=True,
    previewed=("/path", "/content"),
)


def create_file() -> Tool:
    """Return the tool."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> ToolReturn:
    workspace = workspace_of(context)
    path, content = str(arguments["path"]), str(arguments["content"])
    if path.lower().endswith(_IMAGE_ENDINGS):
        raise ToolError(Code.INVALID_ARGUMENTS, f"path: {path[:200]} is the name of an image; this tool writes text")
    async with workspace.locked():
        earlier = await workspace.find(path)
        if earlier is not None and arguments.get("overwrite") is not True:
            words = f"{path} exists already (version {earlier.version.version})"
            hint = "change it with edit_file, or set overwrite to true to replace it"
            raise ToolError(Code.INVALID_ARGUMENTS, f"path: {words}; {hint}")
        version = await workspace.write(path, content.encode())
    if earlier is None:
        artifact = created_artifact(version, content)
    else:
        old = earlier.text or ""
        diff = await asyncio.to_thread(line_diff, old, content, path) if old != content else LineDiff("", 0, 0, 1)
        artifact = changed_artifact(version, content, diff)
    result: JsonObject = {
        "path": version.path,
        "version": version.version,
        "lines": line_count(content),
        "size": version.size,
    }
    return ToolReturn(result, artifact)
