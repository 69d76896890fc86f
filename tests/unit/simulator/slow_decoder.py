"""A simple decoder of OpenRouter's streams that shares no code with `wire/`."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Decoded:
    """The content of a stream."""

    comments: int = 0
    done: bool = False
    chunks: list[dict[str, Any]] = field(default_factory=list)
    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    details: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    finishes: list[str] = field(default_factory=list)
    natives: list[str] = field(default_factory=list)
    usage: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


def decode(body: bytes) -> Decoded:
    """Decode a body frame by frame."""
    decoded = Decoded()
    for block in body.decode().split("\n\n"):
        for line in block.split("\n"):
            if line.startswith(":"):
                decoded.comments += 1
            elif line == "data: [DONE]":
                decoded.done = True
            elif line.startswith("data: "):
                _chunk(decoded, json.loads(line[6:]))
    return decoded


def _chunk(decoded: Decoded, chunk: dict[str, Any]) -> None:
    decoded.chunks.append(chunk)
    decoded.error = chunk.get("error", decoded.error)
    decoded.usage = chunk.get("usage", decoded.usage)
    for choice in chunk.get("choices") or []:
        delta = choice["delta"]
        decoded.content += delta.get("content") or ""
        decoded.reasoning += delta.get("reasoning") or ""
        decoded.refusal += delta.get("refusal") or ""
        for detail in delta.get("reasoning_details") or []:
            _detail(decoded.details, detail)
        for call in delta.get("tool_calls") or []:
            _call(decoded.calls, call)
        if choice.get("finish_reason"):
            decoded.finishes.append(choice["finish_reason"])
            decoded.natives.append(choice.get("native_finish_reason"))


def _detail(details: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Merge a detail by type and index: texts are appended, other fields replaced."""
    for known in details:
        if (known["type"], known.get("index")) == (piece["type"], piece.get("index")):
            for name, value in piece.items():
                known[name] = known.get(name, "") + value if name in ("text", "summary") else value
            return
    details.append(dict(piece))


def _call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    while len(calls) <= piece["index"]:
        calls.append({"id": None, "name": None, "arguments": ""})
    call, function = calls[piece["index"]], piece.get("function") or {}
    call["id"] = call["id"] or piece.get("id")
    call["name"] = call["name"] or function.get("name")
    call["arguments"] += function.get("arguments") or ""


def assistant_message(decoded: Decoded) -> dict[str, Any]:
    """Return the assistant message that a client sends back."""
    message: dict[str, Any] = {"role": "assistant", "content": decoded.content or None}
    if decoded.reasoning:
        message["reasoning"] = decoded.reasoning
    if decoded.details:
        message["reasoning_details"] = decoded.details
    if decoded.calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"] or "{}"},
            }
            for call in decoded.calls
        ]
    return message
