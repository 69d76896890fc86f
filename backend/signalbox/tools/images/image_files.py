"""The files that the image tools read and write: arguments, new names, images that are already there."""

import re
import unicodedata
from collections.abc import Collection, Sequence

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.messages import JsonObject
from signalbox.core.security.image_types import image_type
from signalbox.core.tools import ToolContext
from signalbox.core.workspace import FileVersion, Workspace, WorkspaceFile, is_image
from signalbox.tools.files.portable_names import is_device, path_key

FOLDER = "images"
LONGEST_PROMPT = 4_000
_LONGEST_NAME = 40
ENDINGS = {"png": "png", "jpeg": "jpg", "webp": "webp", "gif": "gif"}
_SEPARATORS = re.compile("[^a-z0-9]+")


def workspace_of(context: ToolContext) -> Workspace:
    """Return the files of the run's conversation; raises ToolError outside of a conversation."""
    if context.workspace is None:
        raise ToolError(Code.TOOL_UNAVAILABLE, "Images can be stored only in a conversation.")
    return context.workspace


def texts_in(arguments: JsonObject, name: str, most: int) -> list[str]:
    """Return the texts of a list without surrounding spaces, empty ones and repetitions; raises ToolError."""
    given = arguments[name]
    texts = [str(one).strip() for one in given] if isinstance(given, list) else []
    distinct = [*dict.fromkeys(one for one in texts if one)]
    if not distinct:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: give at least one text that is not empty")
    if len(distinct) > most:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: give at most {most}, got {len(distinct)}")
    for place, one in enumerate(distinct):
        check_length(f"{name}[{place}]", one)
    return distinct


def check_length(name: str, prompt: str) -> None:
    """Raise ToolError for a prompt that is too long."""
    if len(prompt) > LONGEST_PROMPT:
        raise ToolError(Code.INVALID_ARGUMENTS, f"{name}: must not be longer than {LONGEST_PROMPT:,} characters")


async def image_at(workspace: Workspace, path: str) -> WorkspaceFile:
    """Return an image of the workspace; raises ToolError for a missing file and one that is no image."""
    found = await workspace.find(path)
    if found is None:
        there = [one.path for one in await workspace.files() if is_image(one.media_type)]
        words = f"The images are: {', '.join(there[:20])}." if there else "There are no images yet."
        raise ToolError(Code.INVALID_ARGUMENTS, f"There is no file {path[:200]!r}. {words}")
    if not is_image(found.version.media_type):
        raise ToolError(Code.INVALID_ARGUMENTS, f"{path[:200]} is {found.version.media_type}, not an image.")
    return found


async def store_image(workspace: Workspace, name: str, content: bytes) -> FileVersion:
    """Store an image as a new file that is named after a text; raises ToolError."""
    ending = ENDINGS.get(image_type(content) or "")
    if ending is None:
        raise ToolError(Code.TOOL_FAILED, "The image model returned no PNG, JPEG, WebP or GIF image.")
    async with workspace.locked():
        taken = {path_key(one.path) for one in await workspace.files()}
        return await workspace.write(_free_path(slug(name), ending, taken), content)


def slug(text: str) -> str:
    """Return a text as the name of a file: lower-case letters and digits, at most 40 characters.

    A text without any becomes "image". The name never stands for a device on Windows.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = _SEPARATORS.sub("-", plain).strip("-")
    if len(words) > _LONGEST_NAME:
        words = words[: _LONGEST_NAME + 1].rpartition("-")[0] or words[:_LONGEST_NAME]
    return f"{words}-image" if is_device(words) else words or "image"


def _free_path(name: str, ending: str, taken: Collection[str]) -> str:
    numbered: Sequence[str] = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(path for one in numbered if (path := f"{FOLDER}/{one}.{ending}") not in taken)
