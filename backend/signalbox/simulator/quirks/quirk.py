"""The type `Quirk`, and functions that change a completion, its chunks or its body."""

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
    """Return a turn function that makes calls in the first step, and answers after their results."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        return asking(incoming, *calls(incoming), text=text) if is_first(incoming) else answer(incoming)

    return turn


SEARCHES_ONCE = first_step(one_search)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    """How an answer differs from an ordinary one; a field that is None changes nothing."""

    turn: MakeTurn = SEARCHES_ONCE
    """Makes the content of the answer."""
    completion: ChangeCompletion | None = None
    """Changes ids, reasoning details and usage."""
    stream: ChangeStream | None = None
    """Changes the chunks of the stream."""
    whole: ChangeBody | None = None
    """Changes the body of an answer that is not streamed."""
    writes: Callable[[list[bytes]], list[bytes]] | None = None
    """Changes the network writes of the stream, `[DONE]` included."""
    ending: Ending = "clean"
    request: Callable[[Incoming], Incoming] | None = None
    """Changes the request before it is checked."""
    reject: Callable[[Incoming], Rejected | None] | None = None
    transient: bool = False
    """The second attempt at a step is answered with the turn of `after`."""
    first_step_only: bool = False
    """It is also over once the request has tool results."""
    after: MakeTurn = SEARCHES_ONCE
    lenient: bool = False
    """The provider accepts any reasoning that is sent back."""


def choice(chunk: Chunk) -> Chunk:
    """Return the choice of a chunk or body, empty if there is none."""
    found: list[Chunk] = chunk.get("choices") or [{}]
    return found[0]


def delta(chunk: Chunk) -> Delta:
    """Return the delta of a chunk."""
    return choice(chunk).get("delta") or {}


def has_calls(chunk: Chunk) -> bool:
    """Return whether a chunk has calls."""
    return bool(delta(chunk).get("tool_calls"))


def altered(chunk: Chunk, *, finish: Chunk | None = None, **fields: Any) -> Chunk:
    """Copy a chunk with other fields in its delta; `finish` has fields for its choice."""
    copy = deepcopy(chunk)
    choice(copy).update(finish or {})
    choice(copy).get("delta", {}).update(fields)
    return copy


def finished(reason: Any, native: Any) -> dict[str, Any]:
    """Return the two finish fields of a choice."""
    return {"finish_reason": reason, "native_finish_reason": native}


UNFINISHED = finished(None, None)


def replace_calls(
    cut: Callable[[Sequence[WireCall]], Iterable[list[Delta]]], *, field: str = "tool_calls"
) -> ChangeStream:
    """Return a function that replaces the call deltas of a stream with those that `cut` makes."""

    def stream(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
        with_calls = [chunk for chunk in chunks if has_calls(chunk)]
        if not with_calls:
            return chunks
        at = chunks.index(with_calls[0])
        template = altered(with_calls[0], finish=UNFINISHED)
        del choice(template)["delta"]["tool_calls"]
        made = [_with_field(template, field, entries) for entries in cut(completion.calls)]
        made[-1] = altered(made[-1], finish=finished(*_finish(with_calls[-1])))
        rest = [chunk for chunk in chunks[at:] if not has_calls(chunk)]
        return [*chunks[:at], *made, *rest]

    return stream


def _with_field(chunk: Chunk, field: str, value: Any) -> Chunk:
    return altered(chunk, **dict[str, Any]({field: value}))


def _finish(chunk: Chunk) -> tuple[Any, Any]:
    found = choice(chunk)
    return found.get("finish_reason"), found.get("native_finish_reason")


def body_calls(change: Callable[[list[Delta]], list[Delta]]) -> ChangeBody:
    """Return a function that changes the calls of a body."""

    def whole(completion: Completion, body: Chunk) -> Chunk:
        message = choice(body)["message"]
        if "tool_calls" in message:
            message["tool_calls"] = change(message["tool_calls"])
        return body

    return whole


def with_finish(reason: Any, native: Any | None = None, *, calls_only: bool = True) -> tuple[ChangeStream, ChangeBody]:
    """Return functions that replace the finish reasons of a stream and of a body."""

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
    """Return a function that applies both changes."""

    def stream(completion: Completion, chunks: list[Chunk]) -> Sequence[Frame]:
        made = [chunk for chunk in first(completion, chunks) if isinstance(chunk, dict)]
        return second(completion, made)

    return stream


def letter_by_letter(completion: Completion, chunks: list[Chunk]) -> list[Chunk]:
    """Send a text with markup letter by letter, so that every tag is split over chunks."""
    if not any(mark in completion.limited.turn.text for mark in ("<", "[TOOL_CALLS]")):
        return chunks
    split: list[Chunk] = []
    for chunk in chunks:
        text = delta(chunk).get("content") or ""
        split += [altered(chunk, content=letter) for letter in text] if len(text) > 1 else [chunk]
    return split


def thirds(text: str) -> list[str]:
    """Split JSON into three pieces, none of which is valid alone."""
    size = max(len(text) // 3, 1)
    return [text[:size], text[size : 2 * size], text[2 * size :]]


def header(call: WireCall, **fields: Any) -> Delta:
    """Return the first delta of a call: id and name without arguments; `fields` replace its own."""
    function = {"name": call.name, "arguments": ""}
    return {"index": call.position, "id": call.id, "type": "function", "function": function, **fields}


def whole_call(call: WireCall, **fields: Any) -> Delta:
    """Return a complete call in one delta."""
    return {**header(call, **fields), "function": {"name": call.name, "arguments": call.arguments}}


def piece(text: str, index: int | None = 0, **fields: Any) -> Delta:
    """Return a delta with a piece of arguments."""
    return {**({} if index is None else {"index": index}), "function": {"arguments": text}, **fields}


def without(entry: Delta, *names: str) -> Delta:
    """Return a delta without some fields."""
    return {name: value for name, value in entry.items() if name not in names}
