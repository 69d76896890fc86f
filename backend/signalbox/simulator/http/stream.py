"""Encodes a completion as SSE frames, in the order and pieces of its family."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..completion import Completion
from ..families import Delta, Detail
from ..logprobs import choice_logprobs
from ..model.drawing import image_part

COMMENT = b": OPENROUTER PROCESSING\n\n"
DONE = b"data: [DONE]\n\n"
Chunk = dict[str, Any]
Change = Callable[[Completion, list[Chunk]], Sequence[Chunk | bytes]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk without its envelope: a delta, finish reasons, and whether the usage belongs to it."""

    delta: Delta
    finish: str | None = None
    native: str | None = None
    last: bool = False


def frames(completion: Completion, change: Change | None = None) -> Iterator[bytes]:
    """Return the comments and frames of a stream, `[DONE]` included; `change` may replace chunks."""
    before, between = completion.family.comments
    chunks = [envelope(completion, piece) for piece in pieces(completion)]
    yield from [COMMENT] * before
    for number, chunk in enumerate(change(completion, chunks) if change else chunks):
        yield chunk if isinstance(chunk, bytes) else frame(chunk)
        if number == 0:
            yield from [COMMENT] * between
    yield DONE


def frame(chunk: Any) -> bytes:
    """Return one JSON value as a data line."""
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def pieces(completion: Completion) -> Iterator[Piece]:
    """Return the pieces of an answer: opening, reasoning, text, calls, finish, usage."""
    family, turn = completion.family, completion.limited.turn
    if family.opening is not None:
        yield Piece(family.opening)
    encrypted = [detail for detail in completion.details if detail["type"] == "reasoning.encrypted"]
    late = encrypted if family.encrypted_after_text and not completion.calls else []
    for detail in completion.details:
        if detail not in late:
            yield from _reasoning(completion, detail)
    yield from (Piece({"content": text, **family.text_extra}) for text in family.cut_text(turn.text))
    yield from (Piece({"content": "", "refusal": text}) for text in family.cut_text(turn.refusal))
    yield from (Piece({"content": "", "images": [image_part(url)]}) for url in turn.images)
    for detail in late:
        yield from _reasoning(completion, detail)
    yield from _calls(completion)
    yield from _ending(completion)


def _reasoning(completion: Completion, detail: Detail) -> Iterator[Piece]:
    """Split a detail into deltas; the signature is in a separate last delta without text."""
    key = {"reasoning.text": "text", "reasoning.summary": "summary"}.get(detail["type"])
    if key is None:
        yield Piece({"content": "", "reasoning": None, "reasoning_details": [detail]})
        return
    rest = {name: value for name, value in detail.items() if name not in (key, "signature")}
    for text in completion.family.cut_reasoning(detail[key]):
        part = {"type": detail["type"], key: text, **rest}
        yield Piece({"content": "", "reasoning": text, "reasoning_details": [part]})
    if "signature" in detail:
        part = {"type": detail["type"], "signature": detail["signature"], **rest}
        yield Piece({"content": "", "reasoning_details": [part]})


def _calls(completion: Completion) -> Iterator[Piece]:
    deltas = list(completion.family.cut_calls(completion.calls))
    for number, delta in enumerate(deltas, 1):
        on_finish = completion.family.finish_on_calls and number == len(deltas)
        finish = (completion.finish, completion.native) if on_finish else (None, None)
        yield Piece({"content": None, "tool_calls": delta}, *finish)


def _ending(completion: Completion) -> Iterator[Piece]:
    family = completion.family
    if not (family.finish_on_calls and completion.calls):
        yield Piece({"content": "", **family.finish_extra}, completion.finish, completion.native)
    if family.finish_repeated:
        yield Piece({"content": ""}, completion.finish, completion.native, last=True)
    else:
        yield Piece({"content": ""}, last=True)


def envelope(completion: Completion, piece: Piece) -> dict[str, Any]:
    """Return the chunk object of a piece, with the key order of its version."""
    family = completion.family
    role = {"role": "assistant"}
    content = {"content": piece.delta.get("content")}
    rest = {key: value for key, value in piece.delta.items() if key != "content"}
    delta = {**content, **role, **rest} if family.newer else {**role, **content, **rest}
    choice: dict[str, Any] = {
        "index": 0,
        "delta": delta,
        "finish_reason": piece.finish,
        "native_finish_reason": piece.native,
    }
    logprobs = choice_logprobs(delta["content"] or "", piece.delta.get("refusal") or "", completion.logprobs)
    if logprobs is not None or not family.newer:
        choice["logprobs"] = logprobs
    chunk = head(completion, "chat.completion.chunk")
    empty = piece.last and family.usage_without_choice and not completion.calls
    chunk["choices"] = [] if empty else [choice]
    if piece.last:
        chunk = {**chunk, **family.final_extra, "usage": completion.usage}
    return chunk


def head(completion: Completion, kind: str) -> dict[str, Any]:
    """Return the fields that every chunk has."""
    fields = {
        "id": completion.id,
        "object": kind,
        "created": completion.created,
        "model": completion.model,
        "provider": completion.provider,
    }
    order = list(fields) if completion.family.newer else ["id", "provider", "model", "object", "created"]
    return {name: fields[name] for name in order}
