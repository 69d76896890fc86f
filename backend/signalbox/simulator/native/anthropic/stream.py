"""The events of a stream: a start, the blocks one after the other, the stop reason with the usage, an end."""

from collections.abc import Iterator
from typing import Any

import orjson

from ...families import Family
from ...families.chunking import json_tokens
from .accents import Content

# The first event's usage; later ones are counts so far.
_FIRST_TOKENS = 1
_PADDINGS = 16
_ARGUMENT_TOKENS = 4
_AT_THE_END = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
)
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


def event(name: str, data: dict[str, Any]) -> bytes:
    """Return one event; the API pads its JSON with spaces before the last brace (all recordings of 2025)."""
    text = orjson.dumps(data)
    padding = b" " * (len(text) * 7 % _PADDINGS)
    return b"event: " + name.encode() + b"\ndata: " + text[:-1] + padding + b"}\n\n"


def frames(message: dict[str, Any], content: Content, family: Family) -> list[bytes]:
    """Return the events of an answer; the last two are `message_delta` and `message_stop`."""
    written = [_start(message)]
    for index, block in enumerate(content.blocks):
        opening, *deltas = _block_events(index, block, content, family)
        written += [opening, *([PING] if index == 0 else []), *deltas]
        if not _is_cut(block, content, is_last=index == len(content.blocks) - 1):
            written.append(_event("content_block_stop", index=index))
    if not content.blocks:
        written.append(PING)
    if content.blocks and content.blocks[0]["type"] == "unheard_of":
        written.append(_event("unheard_of_event", value=1))
    stop = content.stop
    delta = {"stop_reason": stop.reason, "stop_sequence": stop.sequence, "stop_details": stop.details}
    usage = {name: message["usage"][name] for name in _AT_THE_END}
    return [*written, _event("message_delta", delta=delta, usage=usage), _event("message_stop")]


def _event(kind: str, **fields: Any) -> bytes:
    return event(kind, {"type": kind, **fields})


def _start(message: dict[str, Any]) -> bytes:
    usage = {name: value for name, value in message["usage"].items() if name != "output_tokens_details"}
    empty: dict[str, Any] = {"content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    return _event("message_start", message={**message, **empty, "usage": {**usage, "output_tokens": _FIRST_TOKENS}})


def _is_cut(block: dict[str, Any], content: Content, *, is_last: bool) -> bool:
    """Return whether max_tokens cut a call, whose block has no end (recorded with claude-3-7-sonnet)."""
    return is_last and block["type"] == "tool_use" and content.stop.reason == "max_tokens"


def _block_events(index: int, block: dict[str, Any], content: Content, family: Family) -> Iterator[bytes]:
    """Return the start of a block and its deltas."""
    yield _event("content_block_start", index=index, content_block=_opening(block))
    for delta in _deltas(block, content, family):
        yield _event("content_block_delta", index=index, delta=delta)


def _opening(block: dict[str, Any]) -> dict[str, Any]:
    match block["type"]:
        case "text":
            return {"type": "text", "text": "", **({"citations": []} if "citations" in block else {})}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case "tool_use" | "server_tool_use":
            return {**block, "input": {}}
        case _:
            return block


def _deltas(block: dict[str, Any], content: Content, family: Family) -> Iterator[dict[str, Any]]:
    match block["type"]:
        case "text":
            yield from ({"type": "citations_delta", "citation": one} for one in block.get("citations", []))
            yield from ({"type": "text_delta", "text": text} for text in family.cut_text(block["text"]))
        case "thinking":
            texts = family.cut_reasoning(block["thinking"])
            yield from ({"type": "thinking_delta", "thinking": text} for text in texts)
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use" | "server_tool_use":
            arguments = content.arguments.get(block["id"], orjson.dumps(block["input"]).decode())
            pieces = ["", *_cut(arguments)]
            yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
        case "unheard_of":
            yield {"type": "unheard_of_delta", "value": 1}
        case _:
            return


def _cut(arguments: str) -> list[str]:
    """Split arguments as the API does; `{}` is no piece at all, because the block starts with an empty input."""
    pieces = json_tokens(arguments) if arguments != "{}" else []
    return ["".join(pieces[at : at + _ARGUMENT_TOKENS]) for at in range(0, len(pieces), _ARGUMENT_TOKENS)]
