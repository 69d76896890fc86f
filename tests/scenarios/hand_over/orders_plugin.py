"""A plugin with a tool that knows who asks, as an installed package brings it."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.tools import Tool, ToolContext, ToolSpec

ORDERS = {"Ada": "two lamps", "Bob": "one chair"}


async def _run(arguments: JsonObject, context: ToolContext) -> JsonValue:
    return {
        "orders": ORDERS.get(context.owner.name, "none"),
        "owner": context.owner.id,
        "run": context.run_id,
        "conversation": context.conversation_id,
        "channel": context.metadata.get("channel"),
    }


def tools() -> list[Tool]:
    """Return the tools of the package."""
    parameters: JsonObject = {"type": "object", "properties": {}, "required": []}
    return [Tool(ToolSpec("my_orders", "List the orders of the customer who asks.", parameters), _run)]
