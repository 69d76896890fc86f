"""What the file tools have in common: the workspace of a call, and what people see of a change."""

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.tools import ToolContext
from signalbox.core.workspace import FileVersion, Workspace, WorkspaceFile
from signalbox.tools.files.line_diff import LineDiff, line_count


def workspace_of(context: ToolContext) -> Workspace:
    """Return the files of the conversation; raises ToolError outside of one."""
    if context.workspace is None:
        raise ToolError(Code.TOOL_UNAVAILABLE, "There are no files here, because the run belongs to no conversation.")
    return context.workspace


async def text_file(workspace: Workspace, path: str) -> tuple[WorkspaceFile, str]:
    """Return a text file and its text; raises ToolError for an image, and for an unknown file with those there are."""
    found = await workspace.find(path)
    if found is None:
        raise await unknown_file(workspace, path)
    if found.text is None:
        raise ToolError(Code.INVALID_ARGUMENTS, f"path: {path} is an image, not a text file")
    return found, found.text


async def unknown_file(workspace: Workspace, path: str) -> ToolError:
    """Return the error for a path that does not exist."""
    names = [version.path for version in await workspace.files()]
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    known = f"the files are: {', '.join(names[:20])}{more}" if names else "there are no files yet"
    return ToolError(Code.INVALID_ARGUMENTS, f"path: there is no file {path[:200]!r}; {known}")


def created_artifact(version: FileVersion, text: str) -> JsonObject:
    """Return what people see of a new file."""
    lines = line_count(text)
    return _artifact(version, lines, added=lines, removed=0, is_new=True)


def changed_artifact(version: FileVersion, text: str, diff: LineDiff) -> JsonObject:
    """Return what people see of a changed file."""
    return _artifact(version, line_count(text), added=diff.added, removed=diff.removed, is_new=False)


def _artifact(version: FileVersion, lines: int, *, added: int, removed: int, is_new: bool) -> JsonObject:
    return {
        "type": "file",
        "path": version.path,
        "version": version.version,
        "size": version.size,
        "lines": lines,
        "added": added,
        "removed": removed,
        "is_new": is_new,
    }
