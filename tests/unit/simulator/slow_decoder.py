"""A second, slow reader of OpenRouter's stream, written from the facts alone: it shares no line with wire/."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Heard:
    """What a stream said."""

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


def hear(body: bytes) -> Heard:
    """Read a body frame by frame."""
    heard = Heard()
    for block in body.decode().split("\n\n"):
        for line in block.split("\n"):
            if line.startswith(":"):
                heard.comments += 1
            elif line == "data: [DONE]":
                heard.done = True
            elif line.startswith("data: "):
                _chunk(heard, json.loads(line[6:]))
    return heard


def _chunk(heard: Heard, chunk: dict[str, Any]) -> None:
    heard.chunks.append(chunk)
    heard.error = chunk.get("error", heard.error)
    heard.usage = chunk.get("usage", heard.usage)
    for choice in chunk.get("choices") or []:
        delta = choice["delta"]
        heard.content += delta.get("content") or ""
        heard.reasoning += delta.get("reasoning") or ""
        heard.refusal += delta.get("refusal") or ""
        for detail in delta.get("reasoning_details") or []:
            _detail(heard.details, detail)
        for call in delta.get("tool_calls") or []:
            _call(heard.calls, call)
        if choice.get("finish_reason"):
            heard.finishes.append(choice["finish_reason"])
            heard.natives.append(choice.get("native_finish_reason"))


def _detail(details: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Merge by type and index: texts grow, everything else is set."""
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


def said(heard: Heard) -> dict[str, Any]:
    """Give the assistant message that a faithful client sends back."""
    message: dict[str, Any] = {"role": "assistant", "content": heard.content or None}
    if heard.reasoning:
        message["reasoning"] = heard.reasoning
    if heard.details:
        message["reasoning_details"] = heard.details
    if heard.calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"] or "{}"},
            }
            for call in heard.calls
        ]
    return message
