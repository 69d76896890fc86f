"""Writes an answer as the events of a streamed response, in the recorded order."""

import hashlib
from collections.abc import Iterator
from typing import Any

import orjson

from ...families import Family
from ...families.chunking import json_tokens
from .announced import Item, announced

_OBFUSCATED_BYTES = 16
Event = tuple[str, dict[str, Any]]


def item_events(at: int, item: Item, family: Family, *, obfuscated: bool) -> Iterator[Event]:
    """Return the events of one output item."""
    yield "response.output_item.added", {"item": announced(item), "output_index": at}
    name = {"item_id": item["id"], "output_index": at}
    match item["type"]:
        case "reasoning":
            yield from _summary(item, name, family, obfuscated=obfuscated)
            for part in item.get("content", []):
                yield from _content(part, {**name, "content_index": 0}, family, obfuscated=obfuscated)
        case "web_search_call":
            yield from (
                (f"response.web_search_call.{step}", name) for step in ("in_progress", "searching", "completed")
            )
        case "unheard_of":
            yield "response.unheard_of.delta", {**name, "value": item["value"]}
        case "message":
            yield from _content(item["content"][0], {**name, "content_index": 0}, family, obfuscated=obfuscated)
        case _:
            pieces = _deltas(json_tokens(item["arguments"]), name, obfuscated=obfuscated)
            yield from (("response.function_call_arguments.delta", delta) for delta in pieces)
            # A truncated call has no `done` event of its arguments.
            if item["status"] == "completed":
                yield "response.function_call_arguments.done", {**name, "arguments": item["arguments"]}
    yield "response.output_item.done", {"item": item, "output_index": at}


def _summary(item: Item, name: dict[str, Any], family: Family, *, obfuscated: bool) -> Iterator[Event]:
    for number, part in enumerate(item["summary"]):
        place = {**name, "summary_index": number}
        yield "response.reasoning_summary_part.added", {**place, "part": {"type": "summary_text", "text": ""}}
        pieces = _deltas(family.cut_reasoning(part["text"]), place, obfuscated=obfuscated)
        yield from (("response.reasoning_summary_text.delta", delta) for delta in pieces)
        yield "response.reasoning_summary_text.done", {**place, "text": part["text"]}
        yield "response.reasoning_summary_part.done", {**place, "part": part}


def _content(part: dict[str, Any], place: dict[str, Any], family: Family, *, obfuscated: bool) -> Iterator[Event]:
    kind = part["type"]
    key = "refusal" if kind == "refusal" else "text"
    more: dict[str, Any] = {"logprobs": []} if kind == "output_text" else {}
    unmarked: dict[str, Any] = {"annotations": []} if kind == "output_text" else {}
    yield "response.content_part.added", {**place, "part": {**part, **unmarked, key: ""}}
    for delta in _deltas(family.cut_text(part[key]), {**place, **more}, obfuscated=obfuscated):
        yield f"response.{kind}.delta", delta
    for at, annotation in enumerate(part.get("annotations", [])):
        fields = {**place, "annotation": annotation, "annotation_index": at}
        yield "response.output_text.annotation.added", fields
    yield f"response.{kind}.done", {**place, **more, key: part[key]}
    yield "response.content_part.done", {**place, "part": part}


def _deltas(pieces: list[str], place: dict[str, Any], *, obfuscated: bool) -> Iterator[dict[str, Any]]:
    for piece in pieces:
        more = {"obfuscation": padding(piece)} if obfuscated else {}
        yield {**place, "delta": piece, **more}


def padding(piece: str) -> str:
    """Return text that makes deltas equally long, so that their lengths do not reveal the answer."""
    size = -len(piece) % _OBFUSCATED_BYTES
    return hashlib.sha256(piece.encode()).hexdigest()[:size]


def frames_of(events: list[Event]) -> list[bytes]:
    """Return numbered events as frames: the type comes first, the other fields in alphabetical order."""
    return [frame(kind, {**fields, "sequence_number": number}) for number, (kind, fields) in enumerate(events)]


def frame(kind: str, fields: dict[str, Any]) -> bytes:
    """Return one event as a frame."""
    ordered = {"type": kind, **{key: fields[key] for key in sorted(fields)}}
    return f"event: {kind}\ndata: ".encode() + orjson.dumps(ordered) + b"\n\n"
