"""Answering with a watcher of a run: its journal behind a cursor, encoded."""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TypeAlias

from fastapi import Request, Response

from signalbox.app.access import Who, run_of
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.streaming import EventStream
from signalbox.app.deps import Parts
from signalbox.app.limits.open_streams import Place
from signalbox.core.codes import Code
from signalbox.core.conversations import shown_id
from signalbox.core.errors import RequestError
from signalbox.core.events import Done, LoopName, Stamped
from signalbox.core.ports import TryEmit
from signalbox.core.records import RunRecord
from signalbox.encoders.sse_v1 import HEADERS, SseV1Encoder
from signalbox.runs.run import Run

BatchesOf: TypeAlias = Callable[[TryEmit[list[Stamped]]], AsyncGenerator[list[Stamped], None]]
"""Makes the source of a stream; it may hand events to its argument instead of yielding them."""

# Events written at once: a slow subscriber has at most this much waiting in memory (quirk G6).
_PER_WRITE = 256
# Python refuses to read an int of thousands of digits, with a ValueError.
_SEQ_DIGITS = 20


def watch(run: Run | RunRecord, parts: Parts, place: Place, *, after: int = 0, follow: bool = True) -> EventStream:
    """Answer with a run's events behind a cursor, to its end; without `follow` only with those that are there."""
    record, runs = run.opening if isinstance(run, Run) else run, parts.runs

    def batches(push: TryEmit[list[Stamped]]) -> AsyncGenerator[list[Stamped], None]:
        if not follow:
            return runs.read_available(record.id, after)
        return runs.subscribe(run if isinstance(run, Run) else run.id, after, push)

    headers = {**_names(record.id, record.loop), **_places(record)}
    return _Watching(headers, SseV1Encoder(record.id, record.loop, after), batches, place)


def stream_of(run_id: str, loop: LoopName, batches_of: BatchesOf, place: Place, *, after: int = 0) -> EventStream:
    """Answer with a run's events as they come, the first of them behind a cursor; the place is free at the end."""
    return _Watching(_names(run_id, loop), SseV1Encoder(run_id, loop, after), batches_of, place)


class _Watching(EventStream):
    """A stream that encodes what it sends."""

    def __init__(self, headers: dict[str, str], encoder: SseV1Encoder, batches_of: BatchesOf, place: Place) -> None:
        self._encode = encoder.encode
        super().__init__(batches_of(self._take), headers, place.free)

    def _take(self, batch: list[Stamped]) -> bool:
        """Send what is told right where it is told, where that can be done."""
        if not self.is_free or len(batch) > _PER_WRITE:
            return False
        self.push(self._encode(batch))
        return True

    def _chunks(self, item: list[Stamped]) -> Iterator[bytes]:
        for at in range(0, len(item), _PER_WRITE):
            batch = item[at : at + _PER_WRITE]
            if type(batch[-1].event) is Done:
                self.last = self._encode(batch)  # nothing follows
            else:
                yield self._encode(batch)


def nothing_left(run_id: str, loop: LoopName) -> Response:
    """Answer that a client has seen all of a run."""
    # The next client at this address may not have seen it: no cache may answer for us (quirk E7).
    return Response(status_code=204, headers={**HEADERS, **_names(run_id, loop)})


def _names(run_id: str, loop: LoopName) -> dict[str, str]:
    return {"x-run-id": run_id, "x-tool-loop": loop}


def _places(run: RunRecord) -> dict[str, str]:
    """Say which message of which conversation a run answers."""
    if run.conversation_id is None or run.parent_id is None:
        return {}
    return {"x-conversation-id": shown_id(run.conversation_id), "x-message-id": run.parent_id}


async def resume(run_id: str, parts: Parts, who: Who, *, after: int, follow: bool = True) -> Response:
    """Answer with what a client has not seen of a run, 204 when it is over and all was seen; never start one.

    Raises RequestError UNKNOWN_RUN.
    """
    record = await run_of(run_id, parts.runs, who)
    if record.is_over and after >= record.seq:
        nothing = nothing_left(record.id, record.loop)
        nothing.headers.update(_places(record))
        return nothing
    with parts.streams.take(who.owner) as place:
        return watch(record, parts, place, after=after, follow=follow)


def cursor_of(run_id: str, after: int, last_event_id: str | None) -> int:
    """Return the cursor that a client asks for: its Last-Event-ID goes before its number; raises RequestError."""
    if not last_event_id:
        return after
    named, seq = read_event_id(last_event_id)
    if named != run_id:
        raise RequestError(Code.INVALID_REQUEST, "Last-Event-ID belongs to another run.", "Last-Event-ID")
    return seq


def read_event_id(last_event_id: str) -> tuple[str, int]:
    """Read `<run_id>:<seq>`; raises RequestError."""
    run_id, _, seq = last_event_id.rpartition(":")
    if not run_id or ":" in run_id or not (seq.isascii() and seq.isdigit() and len(seq) < _SEQ_DIGITS):
        raise RequestError(Code.INVALID_REQUEST, "Last-Event-ID is not an event id (<run_id>:<seq>).", "Last-Event-ID")
    return run_id, int(seq)


def refuse_twins(request: Request, *names: str) -> None:
    """Reject a header that came twice with two values, since either may be meant. Raises RequestError."""
    there = headers_of(request.scope)
    for name in names:
        if name.lower().encode() not in there:
            continue
        if len(set(request.headers.getlist(name))) > 1:
            raise RequestError(Code.INVALID_REQUEST, f"{name} may appear only once.", name)
