"""What a quirk is: the places at which it may change an ordinary answer, and nothing at the others."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ..completion import Completion
from ..families import Delta, Family, WireCall
from ..faults.steps import answer, asking, is_first, one_search
from ..http.errors import Rejected
from ..http.incoming import Incoming
from ..http.writes import Ending
from ..model.turns import Call, Turn

Chunk = dict[str, Any]
Frame = Chunk | bytes
MakeTurn = Callable[[Incoming, Family], Turn]
ChangeCompletion = Callable[[Incoming, Completion], Completion]
ChangeStream = Callable[[Completion, list[Chunk]], Sequence[Frame]]
ChangeBody = Callable[[Completion, Chunk], Chunk]


def first_step(calls: Callable[[Incoming], Sequence[Call]], text: str = "") -> MakeTurn:
    """Ask for calls in the first step, and answer in words after their results."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        return asking(incoming, *calls(incoming), text=text) if is_first(incoming) else answer(incoming)

    return turn


SEARCHES_ONCE = first_step(one_search)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    """Where an answer differs from an ordinary one; what is None is ordinary."""

    turn: MakeTurn = SEARCHES_ONCE
    """What is said."""
    completion: ChangeCompletion | None = None
    """The ids, the details, the usage."""
    stream: ChangeStream | None = None
    """The chunks of the stream, before they are written."""
    whole: ChangeBody | None = None
    """The body of an answer that is not streamed."""
    writes: Callable[[list[bytes]], list[bytes]] | None = None
    """The bytes of the stream, `[DONE]` included."""
    ending: Ending = "clean"
    request: Callable[[Incoming], Incoming] | None = None
    """How the request is understood, before it is checked."""
    reject: Callable[[Incoming], Rejected | None] | None = None
    transient: bool = False
    """The second attempt at the same step is answered ordinarily, with the turn `after`."""
    first_step_only: bool = False
    """With results in the request it is over as well."""
    after: MakeTurn = SEARCHES_ONCE
    lenient: bool = False
    """The host does not check what reasoning comes back."""


def choice(chunk: Chunk) -> Chunk:
    """Return the one choice of a chunk or body; an empty one where there is none."""
    found: list[Chunk] = chunk.get("choices") or [{}]
    return found[0]


def delta(chunk: Chunk) -> Delta:
    """Return the delta of a chunk."""
    return choice(chunk).get("delta") or {}


def has_calls(chunk: Chunk) -> bool:
    """Return whether a chunk carries calls."""
    return bool(delta(chunk).get("tool_calls"))


def altered(chunk: Chunk, *, finish: Chunk | None = None, **fields: Any) -> Chunk:
    """Copy a chunk with other fields in its delta; `finish` has fields for its choice."""
    copy = deepcopy(chunk)
    choice(copy).update(finish or {})
    choice(copy).get("delta", {}).update(fields)
    return copy


def finished(reason: Any, native: Any) -> dict[str, Any]:
    """Write the two finish fields of a choice."""
    return {"finish_reason": reason, "native_finish_reason": native}


UNFINISHED = finished(None, None)


def replace_calls(
    cut: Callable[[Sequence[WireCall]], Iterable[list[Delta]]], *, field: str = "tool_calls"
) -> ChangeStream:
    """Send the calls of the answer in these deltas instead; an answer without calls stays as it is."""

    def stream(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
        mine = [chunk for chunk in chunks if has_calls(chunk)]
        if not mine:
            return chunks
        at = chunks.index(mine[0])
        mold = altered(mine[0], finish=UNFINISHED)
        del choice(mold)["delta"]["tool_calls"]
        made = [_with_field(mold, field, entries) for entries in cut(completion.calls)]
        made[-1] = altered(made[-1], finish=finished(*_finish(mine[-1])))
        rest = [chunk for chunk in chunks[at:] if not has_calls(chunk)]
        return [*chunks[:at], *made, *rest]

    return stream


def _with_field(chunk: Chunk, field: str, value: Any) -> Chunk:
    return altered(chunk, **dict[str, Any]({field: value}))


def _finish(chunk: Chunk) -> tuple[Any, Any]:
    found = choice(chunk)
    return found.get("finish_reason"), found.get("native_finish_reason")


def body_calls(change: Callable[[list[Delta]], list[Delta]]) -> ChangeBody:
    """Write the calls of a whole body this way instead."""

    def whole(completion: Completion, body: Chunk) -> Chunk:
        message = choice(body)["message"]
        if "tool_calls" in message:
            message["tool_calls"] = change(message["tool_calls"])
        return body

    return whole


def with_finish(reason: Any, native: Any | None = None, *, calls_only: bool = True) -> tuple[ChangeStream, ChangeBody]:
    """End with these finish words wherever the answer would have said how it ends."""

    def fields(old: Chunk) -> dict[str, Any]:
        return finished(reason, old.get("native_finish_reason") if native is None else native)

    def stream(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
        if calls_only and not completion.calls:
            return chunks
        return [
            altered(chunk, finish=fields(choice(chunk))) if choice(chunk).get("finish_reason") else chunk
            for chunk in chunks
        ]

    def whole(completion: Completion, body: Chunk) -> Chunk:
        if completion.calls or not calls_only:
            choice(body).update(fields(choice(body)))
        return body

    return stream, whole


def chain(first: ChangeStream, second: ChangeStream) -> ChangeStream:
    """Change the chunks twice."""

    def stream(completion: Completion, chunks: list[Chunk]) -> Sequence[Frame]:
        made = [chunk for chunk in first(completion, chunks) if isinstance(chunk, dict)]
        return second(completion, made)

    return stream


def letter_by_letter(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send a text that holds markup letter by letter: every tag is split over chunks."""
    if not any(mark in completion.limited.turn.text for mark in ("<", "[TOOL_CALLS]")):
        return chunks
    sent: list[Chunk] = []
    for chunk in chunks:
        said = delta(chunk).get("content") or ""
        sent += [altered(chunk, content=letter) for letter in said] if len(said) > 1 else [chunk]
    return sent


def thirds(text: str) -> list[str]:
    """Cut a text into three pieces, none of them whole JSON."""
    size = max(len(text) // 3, 1)
    return [text[:size], text[size : 2 * size], text[2 * size :]]


def header(call: WireCall, **fields: Any) -> Delta:
    """Write the first delta of a call: id, name and no arguments, or what `fields` says."""
    function = {"name": call.name, "arguments": ""}
    return {"index": call.position, "id": call.id, "type": "function", "function": function, **fields}


def whole_call(call: WireCall, **fields: Any) -> Delta:
    """Write a call in one delta."""
    return {**header(call, **fields), "function": {"name": call.name, "arguments": call.arguments}}


def piece(text: str, index: int | None = 0, **fields: Any) -> Delta:
    """Write a continuation of a call's arguments."""
    return {**({} if index is None else {"index": index}), "function": {"arguments": text}, **fields}


def without(entry: Delta, *names: str) -> Delta:
    """Leave fields out of a delta."""
    return {name: value for name, value in entry.items() if name not in names}
