"""What the image tools share: the model that may be missing, and the aspect ratio."""

from collections.abc import Awaitable, Callable

from signalbox.core.codes import Code
from signalbox.core.errors import ToolError
from signalbox.core.images import ImageModel
from signalbox.core.messages import JsonObject
from signalbox.core.tools import Tool, ToolContext, ToolReturn, ToolSpec

NO_MODEL = "no image model is set"

ASPECT_RATIO: JsonObject = {
    "type": "string",
    "enum": ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"],
    "description": "Width to height. Default: the model decides.",
}

Run = Callable[[ImageModel, JsonObject, ToolContext], Awaitable[ToolReturn]]


def image_tool(spec: ToolSpec, run: Run, model: ImageModel | None, unavailable: str | None) -> Tool:
    """Return a tool that uses the model; without a model it is unavailable, with the reason `unavailable`."""

    async def work(arguments: JsonObject, context: ToolContext) -> ToolReturn:
        if model is None:
            raise ToolError(Code.TOOL_UNAVAILABLE, "Images cannot be drawn here.")
        return await run(model, arguments, context)

    return Tool(spec, work, unavailable or (None if model else NO_MODEL))


def aspect_ratio_in(arguments: JsonObject) -> str | None:
    """Return the aspect ratio, None if the model decides."""
    ratio = arguments.get("aspect_ratio")
    return str(ratio) if ratio is not None else None
