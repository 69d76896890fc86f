"""Answering with a watcher of a run: its journal behind a cursor, encoded."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import Response

from signalbox.app.deps import Parts
from signalbox.app.streaming import EventStream
from signalbox.core.errors import Code, RequestError
from signalbox.core.records import RunRecord
from signalbox.encoders.sse_v1 import SseV1Encoder

# Events written at once: whoever reads slowly has this much waiting in memory, not all that was missed (quirk G6).
_PER_WRITE = 256
# Python refuses to read an int of thousands of digits, with an exception of its own.
_SEQ_DIGITS = 20


def watch(record: RunRecord, parts: Parts, *, after: int = 0) -> EventStream:
    """Answer with a run's events behind a cursor, to its end."""
    encoder = SseV1Encoder(record.id, record.loop, after)

    async def frames() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts.runs.watch(record.id, after)) as batches:
            async for batch in batches:
                for at in range(0, len(batch), _PER_WRITE):
                    yield encoder.encode(batch[at : at + _PER_WRITE])

    return EventStream(frames(), {"x-run-id": record.id, "x-tool-loop": record.loop})


async def resume(run_id: str, parts: Parts, *, after: int) -> Response:
    """Answer with what a client has not seen of a run, 204 when it is over and all was seen; never start one.

    Raises RequestError UNKNOWN_RUN.
    """
    record = await parts.runs.find(run_id)
    if record.is_over and after >= record.seq:
        return Response(status_code=204)
    parts.runs.check_watchers()
    return watch(record, parts, after=after)


def read_event_id(last_event_id: str) -> tuple[str, int]:
    """Read `<run_id>:<seq>`; raises RequestError."""
    run_id, _, seq = last_event_id.rpartition(":")
    if not run_id or not (seq.isascii() and seq.isdigit() and len(seq) < _SEQ_DIGITS):
        raise RequestError(
            Code.INVALID_REQUEST, "Last-Event-ID is not an id of a run's events (<run_id>:<seq>).", "Last-Event-ID"
        )
    return run_id, int(seq)
