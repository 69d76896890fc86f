"""Answers with a run: a subscription to its journal, encoded in the client's protocol."""

from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, TypeAlias

from fastapi import Request, Response

from signalbox.app.access import Caller, run_of
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.streaming import EventStream
from signalbox.app.asgi.whole_answer import WholeAnswer
from signalbox.app.deps import Services
from signalbox.app.limits.open_streams import Slot
from signalbox.app.protocols import V1, ClientProtocol
from signalbox.core.codes import Code
from signalbox.core.conversations import shown_id
from signalbox.core.errors import RequestError
from signalbox.core.events import Done, Stamped
from signalbox.core.ports import TryEmit
from signalbox.core.records import RunRecord
from signalbox.encoders.encoder import Encoder, Resumed
from signalbox.runs.run import Run

BatchesOf: TypeAlias = Callable[[TryEmit[list[Stamped]]], AsyncGenerator[list[Stamped], None]]
"""Makes the source of a stream; it may hand events to its argument instead of yielding them."""

# Events written at once: a slow subscriber has at most this much waiting in memory (quirk G6).
_PER_WRITE = 256
# Python refuses to read an int of thousands of digits, with a ValueError.
_SEQ_DIGITS = 20


def answer(
    run: Run | RunRecord,
    protocol: ClientProtocol[Any],
    services: Services,
    slot: Slot,
    *,
    is_streamed: bool = True,
    after: int = 0,
    follow: bool = True,
) -> Response:
    """Answer with a run's events behind a cursor, to its end; without `follow` only with those that are there.

    `is_streamed`: they are sent as they are emitted, else in one answer, where the protocol has one.
    """
    record, runs = run.opening if isinstance(run, Run) else run, services.runs
    headers = {**_names(record), **_places(record)}
    live = run if isinstance(run, Run) else run.id
    if not is_streamed and protocol.whole is not None:
        return WholeAnswer(protocol.whole(record), runs.subscribe(live), headers, slot.release)
    first = after if protocol.encoder.starts_anywhere else 0

    def batches(try_emit: TryEmit[list[Stamped]]) -> AsyncGenerator[list[Stamped], None]:
        return runs.subscribe(live, first, try_emit) if follow else runs.read_available(record.id, first)

    return _RunStream(protocol.encoder, record, headers, batches, slot, after=after)


def stream_of(record: RunRecord, batches_of: BatchesOf, slot: Slot, *, after: int = 0) -> EventStream:
    """Answer with a saved run's events in contract v1.1; the slot is released at the end."""
    return _RunStream(V1.encoder, record, _names(record), batches_of, slot, after=after)


class _RunStream(EventStream):
    """A stream that encodes what it sends."""

    def __init__(
        self,
        encoder: type[Encoder],
        record: RunRecord,
        headers: dict[str, str],
        batches_of: BatchesOf,
        slot: Slot,
        *,
        after: int,
    ) -> None:
        is_behind = after and not encoder.starts_anywhere
        self._encode = (Resumed(encoder(record), after) if is_behind else encoder(record, after)).encode
        super().__init__(encoder, batches_of(self._try_push), headers, slot.release)

    def _try_push(self, batch: list[Stamped]) -> bool:
        """Send a batch inside the call that emits it, where the client has room for it."""
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


def nothing_left(record: RunRecord, protocol: ClientProtocol[Any] = V1) -> Response:
    """Answer that a client has read all of a run."""
    # The next client at this address may not have read it: no cache may answer for us (quirk E7).
    return Response(status_code=204, headers={**protocol.encoder.headers, **_names(record)})


def _names(record: RunRecord) -> dict[str, str]:
    return {"x-run-id": record.id, "x-tool-loop": record.loop}


def _places(run: RunRecord) -> dict[str, str]:
    """Name the conversation and the message that a run answers."""
    if run.conversation_id is None or run.parent_id is None:
        return {}
    return {"x-conversation-id": shown_id(run.conversation_id), "x-message-id": run.parent_id}


async def resume(
    run_id: str,
    services: Services,
    caller: Caller,
    *,
    after: int,
    follow: bool = True,
    protocol: ClientProtocol[Any] = V1,
    is_streamed: bool = True,
) -> Response:
    """Answer with the events that a client has not read, 204 when a run is over and all were read; start no run.

    Raises RequestError UNKNOWN_RUN.
    """
    record = await run_of(run_id, services.runs, caller)
    if record.is_over and after >= record.seq:
        nothing = nothing_left(record, protocol)
        nothing.headers.update(_places(record))
        return nothing
    with services.streams.acquire(caller.owner) as slot:
        return answer(record, protocol, services, slot, is_streamed=is_streamed, after=after, follow=follow)


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
