"""Requests and tool results for the simulator's tests."""

import json
from typing import Any

FAMILIES = ("openai", "anthropic", "google", "x-ai", "deepseek", "mistralai", "moonshotai", "qwen")


def tool(name: str, required: list[str], **properties: str) -> dict[str, Any]:
    """Return a function tool; properties are given by their types."""
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": required,
    }
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


SEARCH = tool("search_web", ["query"], query="string", num_results="integer", time_hint="string")
CALCULATE = tool("calculate", ["expression"], expression="string")
TIME = tool("get_current_time", [], timezone="string")
TOOLS = [SEARCH, CALCULATE, TIME]


def ask(model: str, *messages: dict[str, Any] | str, **fields: Any) -> dict[str, Any]:
    """Return a request body; a string is a user message."""
    written = [{"role": "user", "content": message} if isinstance(message, str) else message for message in messages]
    return {"model": model, "messages": written, "stream": True, "tools": TOOLS, **fields}


def result(call_id: str, value: Any) -> dict[str, Any]:
    """Return a tool message."""
    content = value if isinstance(value, str) else json.dumps(value)
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def source(n: int, title: str = "The loop", snippet: str = "A step is one model call.") -> dict[str, Any]:
    """Return one search result."""
    return {"n": n, "title": title, "url": f"https://example.org/{n}", "snippet": snippet}


def run_tool(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a result in the format of the app's tools."""
    if name == "calculate":
        return {"success": True, "result": {"expression": arguments["expression"], "value": "391"}}
    if name == "get_current_time":
        zone = arguments.get("timezone", "UTC")
        return {"success": True, "result": {"timezone": zone, "timestamp": "2026-11-21T14:05:00+09:00"}}
    return {"success": True, "result": {"query": arguments.get("query"), "results": [source(7)]}}
