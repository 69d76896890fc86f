"""Translates an accepted request into the format of chat completions, which the simulated model reads."""

from typing import Any

import orjson

from ...json_values import as_object, as_objects
from .models import simulated_id
from .usage import content_blocks

Message = dict[str, Any]


def neutral_body(body: dict[str, Any], model: str) -> dict[str, Any]:
    """Return the request as chat completions."""
    system = "\n".join(str(block.get("text", "")) for block in content_blocks(body.get("system")))
    messages: list[Message] = [{"role": "system", "content": system}] if system else []
    for message in body["messages"]:
        messages += _messages(message["role"], content_blocks(message["content"]))
    fields: dict[str, Any] = {
        "model": simulated_id(model),
        "messages": messages,
        "max_tokens": body["max_tokens"],
        "stream": body.get("stream") is True,
        "reasoning": {"enabled": as_object(body.get("thinking")).get("type") in ("enabled", "adaptive")},
    }
    tools = [_tool(tool) for tool in as_objects(body.get("tools")) if tool.get("type", "custom") == "custom"]
    if tools:
        fields |= {"tools": tools, **_choice(as_object(body.get("tool_choice")))}
    if body.get("stop_sequences"):
        fields["stop"] = body["stop_sequences"]
    wanted = as_object(as_object(body.get("output_config")).get("format"))
    if wanted:
        fields["response_format"] = {"type": "json_schema", "json_schema": {"schema": wanted["schema"]}}
    return fields


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool["name"], "description": tool.get("description"), "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    match choice.get("type"):
        case "any":
            fields: dict[str, Any] = {"tool_choice": "required"}
        case "tool":
            fields = {"tool_choice": {"type": "function", "function": {"name": choice["name"]}}}
        case "none":
            fields = {"tool_choice": "none"}
        case _:
            fields = {"tool_choice": "auto"}
    return {**fields, "parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") is True else fields


def _messages(role: str, blocks: list[dict[str, Any]]) -> list[Message]:
    if role == "assistant":
        return [_assistant(blocks)]
    results: list[Message] = [
        {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _text(block.get("content"))}
        for block in blocks
        if block["type"] == "tool_result"
    ]
    said = [_part(block) for block in blocks if block["type"] != "tool_result"]
    return [*results, {"role": "user", "content": said}] if said else results


def _assistant(blocks: list[dict[str, Any]]) -> Message:
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": orjson.dumps(block["input"]).decode()},
        }
        for block in blocks
        if block["type"] == "tool_use"
    ]
    text = "".join(str(block["text"]) for block in blocks if block["type"] == "text")
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    return {"type": "image_url", "image_url": {"url": "data:,"}}


def _text(content: object) -> str:
    """Return the text of a result."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in as_objects(content) if part.get("type") == "text")
