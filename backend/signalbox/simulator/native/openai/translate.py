"""Translates an accepted request to the Responses API into the format that the simulated model reads."""

from typing import Any

from ...json_values import as_object, as_objects
from .items import Item, input_items
from .models import abilities_of, simulated_id
from .options import reasons

Message = dict[str, Any]


def neutral_body(body: dict[str, Any], model: str) -> dict[str, Any]:
    """Return the request as chat completions."""
    instructions = body.get("instructions")
    messages: list[Message] = [{"role": "system", "content": instructions}] if instructions else []
    for item in input_items(body):
        _append(messages, item)
    fields: dict[str, Any] = {
        "model": simulated_id(model),
        "messages": messages,
        "stream": body.get("stream") is True,
        "reasoning": {"enabled": reasons(body, abilities_of(model))},
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "tool_choice": _choice(body.get("tool_choice")),
    }
    tools = [_tool(tool) for tool in as_objects(body.get("tools")) if tool["type"] == "function"]
    if tools:
        fields["tools"] = tools
    if body.get("max_output_tokens") is not None:
        fields["max_tokens"] = body["max_output_tokens"]
    wanted = as_object(as_object(body.get("text")).get("format"))
    if wanted.get("type") == "json_schema":
        fields["response_format"] = {"type": "json_schema", "json_schema": {"schema": wanted["schema"]}}
    elif wanted.get("type") == "json_object":
        fields["response_format"] = {"type": "json_object"}
    return fields


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    schema = as_object(tool["parameters"])
    function = {"name": tool["name"], "description": tool.get("description"), "parameters": schema}
    return {"type": "function", "function": function}


def _choice(choice: object) -> Any:
    if isinstance(choice, str):
        return choice
    name = as_object(choice).get("name")
    return {"type": "function", "function": {"name": name}} if name else "auto"


def _append(messages: list[Message], item: Item) -> None:
    """Add an item: the items of one answer become one assistant message."""
    match item["type"]:
        case "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": _text(item["output"])})
        case "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            _answer(messages).setdefault("tool_calls", []).append(call)
        case "message" if item["role"] == "assistant":
            message = _answer(messages)
            message["content"] += _text(item["content"])
        case "message":
            role = {"developer": "system"}.get(item["role"], item["role"])
            messages.append({"role": role, "content": _parts(item["content"])})
        case _:
            pass


def _answer(messages: list[Message]) -> Message:
    """Return the assistant message at the end, or a new one."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": ""})
    return messages[-1]


def _parts(content: object) -> Any:
    if isinstance(content, str):
        return content
    return [
        {"type": "text", "text": part["text"]}
        if part["type"] == "input_text"
        else {"type": "image_url", "image_url": {"url": "data:,"}}
        for part in as_objects(content)
    ]


def _text(content: object) -> str:
    """Return the text of a result or an answer."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", part.get("refusal", ""))) for part in as_objects(content))
