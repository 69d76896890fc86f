"""The tool that replaces exact pieces of a text file."""

import asyncio

from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec
from signalbox.tools.files.edits import EVERY_MATCH, Edit, edited, edits_of
from signalbox.tools.files.line_diff import LineDiff, line_diff
from signalbox.tools.files.outcome import changed_artifact, text_file, workspace_of

_OLD: JsonObject = {
    "type": "string",
    "description": "The text to replace, exactly as in the file and long enough to be unique.",
}
_NEW: JsonObject = {"type": "string", "description": "The text that replaces it. An empty text deletes it."}
_COUNT: JsonObject = {
    "type": "integer",
    "description": f"How often old_text must occur. Default: 1. {EVERY_MATCH} replaces every match.",
}
_EDIT: JsonObject = {"old_text": _OLD, "new_text": _NEW, "count": _COUNT}

SPEC = ToolSpec(
    name="edit_file",
    title="Edit a file",
    summary="Changes parts of a file of this conversation.",
    description=(
        "Replace exact pieces of a text file. Send one edit as old_text and new_text, or several as edits: they are "
        "applied in order, all of them or none. If old_text is not unique, the call fails and says how often it occurs."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The path of a file that exists."},
            "edits": {
                "type": "array",
                "description": "Several edits.",
                "items": {"type": "object", "properties": _EDIT, "required": ["old_text", "new_text"]},
            },
            **_EDIT,
        },
        "required": ["path"],
    },
    untrusted=False,
    on_request=True,
    needs_workspace=True,
    previewed=("/path", "/old_text", "/new_text", "/edits/*/old_text", "/edits/*/new_text"),
)


def edit_file() -> Tool:
    """Return the tool."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> ToolReturn:
    workspace = workspace_of(context)
    edits = edits_of(arguments)
    async with workspace.locked():
        file, old = await text_file(workspace, str(arguments["path"]))
        # In a thread: many edits of a large file take some tenths of a second.
        new, diff = await asyncio.to_thread(_changed, old, edits, file.version.path)
        version = await workspace.write(file.version.path, new.encode(), file.version.media_type)
    result: JsonObject = {
        "path": version.path,
        "version": version.version,
        "diff": diff.text,
        "first_changed_line": diff.first_changed_line,
    }
    return ToolReturn(result, changed_artifact(version, new, diff))


def _changed(old: str, edits: list[Edit], path: str) -> tuple[str, LineDiff]:
    new = edited(old, edits)
    return new, line_diff(old, new, path)
