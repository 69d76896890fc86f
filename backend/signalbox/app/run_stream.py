"""Responses with a run's events: a subscription to its journal, encoded in the client's protocol."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any, TypeAlias

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from signalbox.app.access import Caller, run_of
from signalbox.app.asgi.late_head import PeekedBody
from signalbox.app.asgi.raw_headers import headers_of
from signalbox.app.asgi.streaming import Body, EventStream
from signalbox.app.asgi.whole_answer import WholeAnswer, retry_headers
from signalbox.app.deps import Services
from signalbox.app.limits.open_streams import Slot
from signalbox.app.protocols import V1, ClientProtocol
from signalbox.core.codes import Code
from signalbox.core.conversations import shown_id
from signalbox.core.errors import RequestError
from signalbox.core.events import Done, Stamped, Warning
from signalbox.core.ports import TryEmit
from signalbox.core.records import RunRecord
from signalbox.encoders.encoder import Encoder, Opening, ResumedEncoder, WholeEncoder, failure_of
from signalbox.runs.run import Run

BatchesOf: TypeAlias = Callable[[TryEmit[list[Stamped]]], AsyncGenerator[list[Stamped], None]]
"""Makes the generator of a stream's batches, which may emit a batch through its argument instead of yielding it."""

# Events per write: a slow subscriber has at most this many waiting in memory (quirk G6).
_PER_WRITE = 256
# How long a response's head waits for the first visible event.
_HEAD_SECONDS = 10.0
_INVISIBLE = frozenset({Warning, Done})
# int() raises ValueError for thousands of digits.
_SEQ_DIGITS = 20


def run_response(
    run: Run | RunRecord,
    protocol: ClientProtocol[Any],
    services: Services,
    slot: Slot,
    *,
    is_streamed: bool = True,
    after: int = 0,
    follow: bool = True,
    opening: Opening | None = None,
) -> Response:
    """Respond with a run's events after a cursor, until its end; without `follow`, only with those so far.

    `is_streamed`: send events as they are emitted. Otherwise send one response at the end, if the protocol has one.
    `opening` precedes the first event.
    """
    record, runs = run.opening if isinstance(run, Run) else run, services.runs
    headers = {**_run_headers(record), **_conversation_headers(record)}
    live = run if isinstance(run, Run) else run.id
    if not is_streamed and protocol.whole is not None:
        return WholeAnswer(protocol.whole(record), runs.subscribe(live), headers, slot.release)
    first = after if protocol.encoder.starts_anywhere else 0

    def batches(try_emit: TryEmit[list[Stamped]]) -> AsyncGenerator[list[Stamped], None]:
        return runs.subscribe(live, first, try_emit) if follow else runs.read_available(record.id, first)

    if protocol.has_late_head and protocol.whole is not None and not after:
        return _LateRunStream(protocol.encoder, record, headers, batches, slot, whole=protocol.whole)
    return _RunStream(protocol.encoder, record, headers, batches, slot, after=after, opening=opening)


def save_response(record: RunRecord, batches_of: BatchesOf, slot: Slot, *, after: int = 0) -> EventStream:
    """Respond with a saved run's events in contract v1.1; the slot is released at the end."""
    return _RunStream(V1.encoder, record, _run_headers(record), batches_of, slot, after=after)


class _RunStream(EventStream):
    """A stream that encodes batches of events."""

    def __init__(
        self,
        encoder: type[Encoder],
        record: RunRecord,
        headers: dict[str, str],
        batches_of: BatchesOf,
        slot: Slot,
        *,
        after: int,
        opening: Opening | None = None,
    ) -> None:
        encoder_of = opening.encoder_of if opening is not None else encoder
        must_skip = after and not encoder.starts_anywhere
        self._encode = (ResumedEncoder(encoder_of(record, 0), after) if must_skip else encoder_of(record, after)).encode
        super().__init__(encoder, self._source(batches_of(self._try_push)), headers, slot.release)
        self.first = opening.data if opening is not None and not after else b""

    def _source(self, batches: AsyncGenerator[list[Stamped], None]) -> Body:
        """Return where the batches come from."""
        return batches

    def _try_push(self, batch: list[Stamped]) -> bool:
        """Send a batch inside the call that emits it; return whether the connection accepted it."""
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


class _LateRunStream(_RunStream):
    """A stream whose head waits for the first visible event.

    A run that fails before it is an HTTP error, which is the same as for a whole answer.
    """

    def __init__(
        self,
        encoder: type[Encoder],
        record: RunRecord,
        headers: dict[str, str],
        batches_of: BatchesOf,
        slot: Slot,
        *,
        whole: type[WholeEncoder],
    ) -> None:
        super().__init__(encoder, record, headers, batches_of, slot, after=0)
        self._record = record
        self._headers = headers
        self._whole = whole

    def _source(self, batches: AsyncGenerator[list[Stamped], None]) -> Body:
        self._peeked = PeekedBody(batches)
        return self._peeked

    def _try_push(self, batch: list[Stamped]) -> bool:
        return not self._peeked.is_holding and super()._try_push(batch)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream, or the error."""
        self._scope, self._receive = scope, receive
        await super().__call__(scope, receive, send)

    async def _send(self, send: Send, send_body: Send) -> None:
        try:
            batches = await self._peeked.peek(_is_visible, _HEAD_SECONDS)
        except BaseException:
            await self._peeked.aclose()
            raise
        done = batches[-1][-1].event if batches and not any(map(_shows, batches)) else None
        if not isinstance(done, Done) or failure_of(done) is None:
            await super()._send(send, send_body)
            return
        await self._peeked.aclose()
        self._on_end()
        encoder = self._whole(self._record)
        for batch in batches:
            encoder.feed(batch)
        status, body = encoder.answer()
        response = Response(body, status, self._headers | retry_headers(done), encoder.content_type)
        await response(self._scope, self._receive, send)


def _shows(batch: list[Stamped]) -> bool:
    """Return whether a client sees anything of a batch: warnings alone may precede an error."""
    return any(type(stamped.event) not in _INVISIBLE for stamped in batch)


def _is_visible(batch: list[Stamped]) -> bool:
    """Return whether a batch decides between a stream and an error."""
    return _shows(batch) or type(batch[-1].event) is Done


def no_events_left(record: RunRecord, protocol: ClientProtocol[Any] = V1) -> Response:
    """Respond with 204: the client has read all events of a finished run."""
    # The headers prevent caching: another client at this URL may not have read them (quirk E7).
    return Response(status_code=204, headers={**protocol.encoder.headers, **_run_headers(record)})


def _run_headers(record: RunRecord) -> dict[str, str]:
    return {"x-run-id": record.id, "x-tool-loop": record.loop}


def _conversation_headers(run: RunRecord) -> dict[str, str]:
    """Return headers with the conversation and the message that a run answers, if any."""
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
    """Respond with the events after a cursor, or with 204 if the run is over and none are left.

    Raises RequestError UNKNOWN_RUN.
    """
    record = await run_of(run_id, services.runs, caller)
    if record.is_over and after >= record.seq:
        response = no_events_left(record, protocol)
        response.headers.update(_conversation_headers(record))
        return response
    opening = await opening_of(record, protocol, services)
    with services.streams.acquire(caller.owner) as slot:
        return run_response(
            record, protocol, services, slot, is_streamed=is_streamed, after=after, follow=follow, opening=opening
        )


async def counted_resume(response: Awaitable[Response], services: Services) -> Response:
    """Count the result of a request for the events of an existing run."""
    try:
        answer = await response
    except RequestError as error:
        services.counters.run_resumed(str(error.code))
        raise
    services.counters.run_resumed("nothing_left" if answer.status_code == 204 else "streamed")
    return answer


async def opening_of(record: RunRecord, protocol: ClientProtocol[Any], services: Services) -> Opening | None:
    """Return what a run's stream begins with; None in most protocols."""
    return None if protocol.opening_of is None else await protocol.opening_of(record, services)


def cursor_of(run_id: str, after: int, last_event_id: str | None) -> int:
    """Return the cursor of a request: Last-Event-ID takes precedence over `after`. Raises RequestError."""
    if not last_event_id:
        return after
    named, seq = parse_event_id(last_event_id)
    if named != run_id:
        raise RequestError(Code.INVALID_REQUEST, "Last-Event-ID belongs to another run.", "Last-Event-ID")
    return seq


def parse_event_id(last_event_id: str) -> tuple[str, int]:
    """Parse `<run_id>:<seq>`; raises RequestError."""
    run_id, _, seq = last_event_id.rpartition(":")
    if not run_id or ":" in run_id or not (seq.isascii() and seq.isdigit() and len(seq) < _SEQ_DIGITS):
        raise RequestError(Code.INVALID_REQUEST, "Last-Event-ID is not an event id (<run_id>:<seq>).", "Last-Event-ID")
    return run_id, int(seq)


def reject_repeated(request: Request, *names: str) -> None:
    """Raise RequestError for a header that was sent twice with different values."""
    sent = headers_of(request.scope)
    for name in names:
        if name.lower().encode() not in sent:
            continue
        if len(set(request.headers.getlist(name))) > 1:
            raise RequestError(Code.INVALID_REQUEST, f"{name} may appear only once.", name)
