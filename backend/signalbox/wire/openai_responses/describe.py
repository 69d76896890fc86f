"""What `signalbox decode` prints about the output items of a response."""

from collections.abc import Sequence

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import ArgumentStatus
from signalbox.wire.json_text import loads
from signalbox.wire.openai_responses.fields import objects_of, text_of

_CALL, _CUSTOM_CALL = "function_call", "custom_tool_call"
# Items that are no server tool.
_OWN = ("message", "reasoning", _CALL, _CUSTOM_CALL)


def describe_items(items: Sequence[JsonObject]) -> JsonObject:
    """Return the kinds of items, the server tools that ran, and how many annotations and encrypted items there are.

    Custom tool calls are no calls of ours (xAI executes them on its server), so only here they are among the calls.
    """
    server_tools: list[JsonValue] = [
        {"type": item.get("type"), "id": item.get("id"), "name": item.get("name")}
        for item in items
        if item.get("type") not in _OWN
    ]
    parts = [part for item in items if item.get("type") == "message" for part in objects_of(item.get("content"))]
    described: JsonObject = {
        "server_tool_calls": server_tools,
        "item_types": [item.get("type") for item in items],
        "n_annotations": sum(len(objects_of(part.get("annotations"))) for part in parts),
        "n_encrypted_reasoning": sum(
            item.get("type") == "reasoning" and bool(item.get("encrypted_content")) for item in items
        ),
    }
    if any(item.get("type") == _CUSTOM_CALL for item in items):
        described["tool_calls"] = [_call(item) for item in items if item.get("type") in (_CALL, _CUSTOM_CALL)]
    return described


def _call(item: JsonObject) -> JsonObject:
    arguments, status = (None, "custom_text") if item.get("type") == _CUSTOM_CALL else _parsed(item)
    return {"id": item.get("call_id"), "name": item.get("name"), "arguments": arguments, "status": status}


def _parsed(item: JsonObject) -> tuple[JsonValue, str]:
    text = text_of(item.get("arguments"))
    if not text.strip():
        return {}, str(ArgumentStatus.EMPTY)
    try:
        value = loads(text)
    except ValueError:
        return None, str(ArgumentStatus.INVALID)
    if not isinstance(value, dict):
        return None, str(ArgumentStatus.NON_OBJECT)
    return value, str(ArgumentStatus.OK)
