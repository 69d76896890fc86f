"""The tool that removes the background of images."""

from functools import partial
from pathlib import PurePosixPath

from signalbox.core.images import ImageModel
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec
from signalbox.core.workspace import FileVersion
from signalbox.tools.images.batch import TIMEOUT, Item, make_all
from signalbox.tools.images.image_files import image_at, store_image, texts_in, workspace_of
from signalbox.tools.images.image_tool import image_tool

MOST = 20
_PROMPT = (
    "Remove the background of this image. Keep the subject exactly as it is, with clean edges, on a transparent "
    "background. Return a PNG with an alpha channel."
)

_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "paths": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Images of this conversation, such as images/red-fox.png. 1 to 20.",
        },
    },
    "required": ["paths"],
}
_SPEC = ToolSpec(
    name="remove_background",
    title="Remove a background",
    summary="Makes copies of images without their background.",
    description="Make a copy of each image without its background. The originals stay as they are.",
    parameters=_PARAMETERS,
    timeout=TIMEOUT,
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def remove_background(model: ImageModel | None, unavailable: str | None) -> Tool:
    """Return the tool; without a model it is unavailable, with the reason `unavailable`."""

    async def run(model: ImageModel, arguments: JsonObject, context: ToolContext) -> ToolReturn:
        workspace = workspace_of(context)

        async def cut_out(path: str) -> FileVersion:
            source = await image_at(workspace, path)
            content = await model.draw(context, _PROMPT, [source])
            return await store_image(workspace, f"{PurePosixPath(path).stem} no background", content)

        paths = texts_in(arguments, "paths", MOST)
        return await make_all([Item({"source": path}, partial(cut_out, path)) for path in paths])

    return image_tool(_SPEC, run, model, unavailable)
