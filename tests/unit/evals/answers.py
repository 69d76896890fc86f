"""Answers of a server, made without one."""

from typing import Any

import msgspec
from signalbox.encoders.v1_whole import ChatAnswer


def answer(text: str = "Hello.", **fields: Any) -> ChatAnswer:
    """Make the answer of a run, as a server sends it."""
    body: dict[str, Any] = {"v": "1.1", "run_id": "a1", "status": "complete", "text": text, "reasoning": ""}
    body |= {"calls": [], "sources": [], "images": [], "warnings": [], "loop": "v2", "steps": 1, "cost": 0.001}
    return msgspec.convert(body | {"duration_ms": 50} | fields, ChatAnswer)


def call(name: str, arguments: str = "{}", error: str | None = None) -> dict[str, Any]:
    """Make a call of an answer."""
    result: dict[str, Any] = {"success": True, "result": None}
    if error is not None:
        result = {"success": False, "error": error, "code": "TOOL_FAILED"}
    shown = {"category": "utility", "visibility": "hidden"}
    return {"id": f"c-{name}", "name": name, "arguments": arguments, "result": result, **shown}
