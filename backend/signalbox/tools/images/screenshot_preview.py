"""The tool that shows a page of the conversation as a browser shows it."""

from base64 import b64encode
from pathlib import PurePosixPath

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.images import PageCamera, PageView, Screenshot
from signalbox.core.messages import ImagePart, JsonObject, JsonValue
from signalbox.core.security.image_types import image_type
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec
from signalbox.core.workspace import Workspace
from signalbox.tools.images.image_files import ENDINGS, slug, workspace_of

FOLDER = "screenshots"
_PAGES = ("text/html", "image/svg+xml")

_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "The page. Default: index.html."},
        "device": {
            "type": "string",
            "enum": ["desktop", "phone", "both"],
            "description": "Desktop is 1280 pixels wide, phone 390. Default: both.",
        },
    },
}
_SPEC = ToolSpec(
    name="screenshot_preview",
    title="Screenshot",
    summary="Takes screenshots of a page of the chat.",
    description=(
        "See a page of this conversation as a browser shows it: screenshots, errors of its console, and files that it "
        "could not load. The browser loads files of this conversation only, nothing from the internet."
    ),
    parameters=_PARAMETERS,
    timeout=120.0,  # longer than the browser takes, including the wait for other screenshots
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def screenshot_preview(camera: PageCamera | None, unavailable: str | None) -> Tool:
    """Return the tool; without a browser it is unavailable, with the reason `unavailable`."""

    async def run(arguments: JsonObject, context: ToolContext) -> ToolReturn:
        if camera is None:
            raise ToolError(Code.TOOL_UNAVAILABLE, "Screenshots cannot be taken here.")
        workspace = workspace_of(context)
        path = str(arguments.get("path") or "index.html")
        device = str(arguments.get("device") or "both")
        await _check_page(workspace, path)
        view = await camera.view(workspace, path, ("desktop", "phone") if device == "both" else (device,))
        return await _returned(workspace, path, view)

    return Tool(_SPEC, run, unavailable or (None if camera else "there is no browser"))


async def _check_page(workspace: Workspace, path: str) -> None:
    """Raise ToolError if there is no such page."""
    found = await workspace.find(path)
    if found is not None and found.version.media_type in _PAGES:
        return
    pages = [one.path for one in await workspace.files() if one.media_type in _PAGES]
    listed = f"The pages are: {', '.join(pages[:20])}." if pages else "There are no HTML files yet."
    reason = f"There is no file {path[:200]!r}." if found is None else f"{path} is {found.version.media_type}, no page."
    raise ToolError(Code.INVALID_ARGUMENTS, f"{reason} {listed}")


async def _returned(workspace: Workspace, page: str, view: PageView) -> ToolReturn:
    listed: list[JsonValue] = []
    shown: list[JsonValue] = []
    for shot in view.screenshots:
        facts = _facts(shot)
        stored = await _stored(workspace, page, shot)
        listed.append(facts | {name: stored[name] for name in ("path", "error") if name in stored})
        shown.append({"source": page, **facts, **stored})
    console: list[JsonValue] = [*view.console]
    missing: list[JsonValue] = [*view.not_loaded]
    reported: JsonObject = {"console": console, "not_loaded": missing}
    result: JsonObject = {"page": page, "screenshots": listed, **reported}
    images = [ImagePart(_data_url(shot.content)) for shot in view.screenshots]
    return ToolReturn(result, {"type": "images", "images": shown, **reported}, images)


def _facts(shot: Screenshot) -> JsonObject:
    facts: JsonObject = {"device": shot.device, "width": shot.width, "height": shot.height}
    return facts | ({"page_height": shot.page_height} if shot.page_height > shot.height else {})


async def _stored(workspace: Workspace, page: str, shot: Screenshot) -> JsonObject:
    """Store a screenshot as the newest version of its file. A full workspace does not fail the call."""
    name = slug(str(PurePosixPath(page).with_suffix("")))
    path = f"{FOLDER}/{name}-{shot.device}.{ENDINGS[_kind(shot.content)]}"
    try:
        async with workspace.locked():
            version = await workspace.write(path, shot.content)
    except ToolError as error:
        return {"error": f"The screenshot was not stored: {error.message}", "code": str(error.code)}
    return {"path": version.path, "version": version.version, "size": version.size}


def _kind(content: bytes) -> str:
    return image_type(content) or "png"


def _data_url(content: bytes) -> str:
    return f"data:image/{_kind(content)};base64,{b64encode(content).decode()}"
