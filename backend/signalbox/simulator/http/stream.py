"""Encodes a turn as SSE frames in the order and chunking of its family."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..accents import Delta, Detail
from ..model.drawing import image_part
from ..spoken import Spoken

COMMENT = b": OPENROUTER PROCESSING\n\n"
DONE = b"data: [DONE]\n\n"
Chunk = dict[str, Any]
Change = Callable[[Spoken, list[Chunk]], Sequence[Chunk | bytes]]


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk before its envelope: a delta and, where they are set, the finish and the usage."""

    delta: Delta
    finish: str | None = None
    native: str | None = None
    last: bool = False


def frames(spoken: Spoken, change: Change | None = None) -> Iterator[bytes]:
    """Return the comments and frames of the stream, `[DONE]` included; `change` replaces the chunks."""
    before, between = spoken.accent.comments
    chunks = [envelope(spoken, piece) for piece in pieces(spoken)]
    yield from [COMMENT] * before
    for number, chunk in enumerate(change(spoken, chunks) if change else chunks):
        yield chunk if isinstance(chunk, bytes) else frame(chunk)
        if number == 0:
            yield from [COMMENT] * between
    yield DONE


def frame(chunk: Any) -> bytes:
    """Return one JSON value as a data line."""
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def pieces(spoken: Spoken) -> Iterator[Piece]:
    """Return the chunks of the answer: opening, reasoning, text, calls, finish, usage."""
    accent, turn = spoken.accent, spoken.cut.turn
    if accent.opening is not None:
        yield Piece(accent.opening)
    seals = [detail for detail in spoken.details if detail["type"] == "reasoning.encrypted"]
    late = seals if accent.seal_after_text and not spoken.calls else []
    for detail in spoken.details:
        if detail not in late:
            yield from _reasoning(spoken, detail)
    yield from (Piece({"content": text, **accent.text_extra}) for text in accent.cut_text(turn.text))
    yield from (Piece({"content": "", "refusal": text}) for text in accent.cut_text(turn.refusal))
    yield from (Piece({"content": "", "images": [image_part(url)]}) for url in turn.images)
    for detail in late:
        yield from _reasoning(spoken, detail)
    yield from _calls(spoken)
    yield from _ending(spoken)


def _reasoning(spoken: Spoken, detail: Detail) -> Iterator[Piece]:
    """Cut one merged detail into deltas; a signature comes last, in a separate delta without text."""
    key = {"reasoning.text": "text", "reasoning.summary": "summary"}.get(detail["type"])
    if key is None:
        yield Piece({"content": "", "reasoning": None, "reasoning_details": [detail]})
        return
    kept = {name: value for name, value in detail.items() if name not in (key, "signature")}
    for text in spoken.accent.cut_reasoning(detail[key]):
        part = {"type": detail["type"], key: text, **kept}
        yield Piece({"content": "", "reasoning": text, "reasoning_details": [part]})
    if "signature" in detail:
        part = {"type": detail["type"], "signature": detail["signature"], **kept}
        yield Piece({"content": "", "reasoning_details": [part]})


def _calls(spoken: Spoken) -> Iterator[Piece]:
    deltas = list(spoken.accent.cut_calls(spoken.calls))
    for number, delta in enumerate(deltas, 1):
        on_finish = spoken.accent.finish_on_calls and number == len(deltas)
        finish = (spoken.finish, spoken.native) if on_finish else (None, None)
        yield Piece({"content": None, "tool_calls": delta}, *finish)


def _ending(spoken: Spoken) -> Iterator[Piece]:
    accent = spoken.accent
    if not (accent.finish_on_calls and spoken.calls):
        yield Piece({"content": "", **accent.finish_extra}, spoken.finish, spoken.native)
    if accent.finish_repeated:
        yield Piece({"content": ""}, spoken.finish, spoken.native, last=True)
    else:
        yield Piece({"content": ""}, last=True)


def envelope(spoken: Spoken, piece: Piece) -> dict[str, Any]:
    """Return the chunk object of a piece, with the key order of its version."""
    accent = spoken.accent
    role = {"role": "assistant"}
    content = {"content": piece.delta.get("content")}
    rest = {key: value for key, value in piece.delta.items() if key != "content"}
    delta = {**content, **role, **rest} if accent.newer else {**role, **content, **rest}
    choice: dict[str, Any] = {
        "index": 0,
        "delta": delta,
        "finish_reason": piece.finish,
        "native_finish_reason": piece.native,
    }
    if not accent.newer:
        choice["logprobs"] = None
    chunk = head(spoken, "chat.completion.chunk")
    empty = piece.last and accent.usage_without_choice and not spoken.calls
    chunk["choices"] = [] if empty else [choice]
    if piece.last:
        chunk = {**chunk, **accent.final_extra, "usage": spoken.usage}
    return chunk


def head(spoken: Spoken, kind: str) -> dict[str, Any]:
    """Return the fields of every chunk."""
    fields = {
        "id": spoken.id,
        "object": kind,
        "created": spoken.created,
        "model": spoken.model,
        "provider": spoken.provider,
    }
    order = list(fields) if spoken.accent.newer else ["id", "provider", "model", "object", "created"]
    return {name: fields[name] for name in order}
