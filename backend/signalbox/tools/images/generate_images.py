"""The tool that draws images from descriptions."""

from functools import partial

from signalbox.core.images import ImageModel
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec
from signalbox.core.workspace import FileVersion
from signalbox.tools.images.batch import TIMEOUT, Item, make_all
from signalbox.tools.images.image_files import store_image, texts_in, workspace_of
from signalbox.tools.images.image_tool import ASPECT_RATIO, aspect_ratio_in, image_tool

MOST = 20

_PARAMETERS: JsonObject = {
    "type": "object",
    "properties": {
        "prompts": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What each image shows: subject, style, colours, background. 1 to 20; one image each.",
        },
        "aspect_ratio": ASPECT_RATIO,
    },
    "required": ["prompts"],
}
_SPEC = ToolSpec(
    name="generate_images",
    title="Generate images",
    summary="Draws images and stores them as files of the chat.",
    description=(
        "Draw images from descriptions. Each image is stored as a file under images/; use its path in pages, such as "
        '<img src="images/red-fox.png">. Draw all images of a page with one call.'
    ),
    parameters=_PARAMETERS,
    timeout=TIMEOUT,
    untrusted=False,
    on_request=True,
    needs_workspace=True,
)


def generate_images(model: ImageModel | None, unavailable: str | None) -> Tool:
    """Return the tool; without a model it is unavailable, with the reason `unavailable`."""

    async def run(model: ImageModel, arguments: JsonObject, context: ToolContext) -> ToolReturn:
        workspace = workspace_of(context)
        ratio = aspect_ratio_in(arguments)

        async def draw(prompt: str) -> FileVersion:
            return await store_image(workspace, prompt, await model.draw(context, prompt, (), ratio))

        prompts = texts_in(arguments, "prompts", MOST)
        return await make_all([Item({"prompt": prompt}, partial(draw, prompt)) for prompt in prompts])

    return image_tool(_SPEC, run, model, unavailable)
