"""The tool that draws an image from other images."""

import asyncio

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.images import ImageModel
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec
from signalbox.core.workspace import FileVersion
from signalbox.tools.images.batch import TIMEOUT, Item, make_all
from signalbox.tools.images.image_files import check_length, image_at, store_image, texts_in, workspace_of
from signalbox.tools.images.image_tool import ASPECT_RATIO, aspect_ratio_in, image_tool

MOST = 5

_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "What the new image shows, and what changes."},
        "paths": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The images to work from, such as images/red-fox.png. 1 to 5.",
        },
        "aspect_ratio": ASPECT_RATIO,
    },
    "required": ["prompt", "paths"],
}
_SPEC = ToolSpec(
    name="edit_image",
    title="Edit an image",
    summary="Draws a new image from images of the chat.",
    description=(
        "Draw one new image from images of this conversation: change one, or combine several. "
        "The images stay as they are."
    ),
    parameters=_PARAMETERS,
    timeout=TIMEOUT,
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def edit_image(model: ImageModel | None, unavailable: str | None) -> Tool:
    """Return the tool; without a model it is unavailable, with the reason `unavailable`."""

    async def run(model: ImageModel, arguments: JsonObject, context: ToolContext) -> ToolReturn:
        workspace = workspace_of(context)
        prompt = str(arguments["prompt"]).strip()
        if not prompt:
            raise ToolError(Code.INVALID_ARGUMENTS, "prompt: must not be empty")
        check_length("prompt", prompt)
        sources = await asyncio.gather(*(image_at(workspace, path) for path in texts_in(arguments, "paths", MOST)))

        async def draw() -> FileVersion:
            content = await model.draw(context, prompt, sources, aspect_ratio_in(arguments))
            return await store_image(workspace, prompt, content)

        return await make_all([Item({"prompt": prompt}, draw)])

    return image_tool(_SPEC, run, model, unavailable)
