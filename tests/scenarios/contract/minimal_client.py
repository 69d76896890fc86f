"""A client that knows only the contract's seven minimum shapes and shares no code with Signalbox.

reasoning{content} tool_calls{calls[{id,name,arguments}]} tool_executing{id,name,category,visibility}
tool_result{id,name,result} content{content} warning{message,code?} done{done:true}

`arguments` is JSON text. `minimal_client.mjs` is the same client for Node.
"""

import json
from collections.abc import Iterable
from typing import Any


def follow(lines: Iterable[str]) -> dict[str, Any]:
    """Read a stream's lines to `done`; return what a user would see."""
    shown: dict[str, Any] = {"reasoning": "", "text": "", "calls": {}, "warnings": [], "done": False}
    for line in lines:
        if line.startswith("data:"):
            add_event(shown, json.loads(line[5:]))
    return shown


def add_event(shown: dict[str, Any], event: dict[str, Any]) -> None:
    """Add one event to what a user sees."""
    match event["type"]:
        case "reasoning":
            shown["reasoning"] += event["content"]
        case "tool_calls":
            for call in event["calls"]:
                made = {"name": call["name"], "arguments": json.loads(call["arguments"])}
                shown["calls"][call["id"]] = made
        case "tool_executing":
            call = shown["calls"][event["id"]]
            call["category"], call["visibility"] = event["category"], event["visibility"]
        case "tool_result":
            shown["calls"][event["id"]]["result"] = event["result"]
        case "content":
            shown["text"] += event["content"]
        case "warning":
            shown["warnings"].append([event["message"], event.get("code")])
        case "done":
            shown["done"] = event["done"]
        case _:
            pass
