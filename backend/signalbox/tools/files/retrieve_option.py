"""The tool that reads the files of another variant of the answer."""

from collections.abc import Sequence

import orjson

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec
from signalbox.core.workspace import Option, WorkspaceFile
from signalbox.tools.files.excerpt import MOST_JSON, RANGE, excerpt
from signalbox.tools.files.outcome import workspace_of

SPEC = ToolSpec(
    name="retrieve_option",
    title="Read another option",
    summary="Reads the files of another variant of the same answer.",
    description=(
        "Read the files of one of the options that answer the same question, for example when the user says "
        '"take the header of option 2". Files that are too long are listed without content: read them with path.'
    ),
    parameters={
        "type": "object",
        "properties": {
            "option_number": {"type": "integer", "description": "The number of the option, from 1."},
            "path": {"type": "string", "description": "Read only this file. Default: all files."},
            **RANGE,
        },
        "required": ["option_number"],
    },
    side_effects=False,
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def retrieve_option() -> Tool:
    """Return the tool."""
    return Tool(SPEC, _run)


async def _run(arguments: JsonObject, context: ToolContext) -> JsonObject:
    workspace = workspace_of(context)
    option = _option(arguments["option_number"], await workspace.options())
    files = await workspace.files_of_option(option.number)
    found: JsonObject = {"option_number": option.number, "model": option.model}
    if "path" in arguments:
        return found | _one(str(arguments["path"]), files, arguments)
    found["files"] = _all(files)
    return found


def _option(number: JsonValue, options: Sequence[Option]) -> Option:
    if not options:
        raise ToolError(Code.INVALID_ARGUMENTS, "option_number: the question has only one answer, so no option exists")
    chosen = next((option for option in options if option.number == number), None)
    if chosen is None:
        known = ", ".join(str(option.number) for option in options)
        raise ToolError(Code.INVALID_ARGUMENTS, f"option_number: there is no option {number}; the options are {known}")
    return chosen


def _one(path: str, files: Sequence[WorkspaceFile], arguments: JsonObject) -> JsonObject:
    file = next((file for file in files if file.version.path == path), None)
    if file is None:
        names = ", ".join(file.version.path for file in files) or "none"
        raise ToolError(Code.INVALID_ARGUMENTS, f"path: the option has no file {path[:200]!r}; its files are: {names}")
    if file.text is None:
        raise ToolError(Code.INVALID_ARGUMENTS, f"path: {path} is an image, not a text file")
    return excerpt(file, file.text, arguments)


def _all(files: Sequence[WorkspaceFile]) -> list[JsonValue]:
    """Return all files; the content is left out of images and of what exceeds one result."""
    left, listed = MOST_JSON, list[JsonValue]()
    for file in files:
        one: JsonObject = {"path": file.version.path, "version": file.version.version, "size": file.version.size}
        size = len(orjson.dumps(file.text)) if file.text is not None else 0
        if file.text is not None and size <= left:
            left -= size
            one["content"] = file.text
        listed.append(one)
    return listed
