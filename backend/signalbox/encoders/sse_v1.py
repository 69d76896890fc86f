"""Encodes contract v1.1 as server-sent events: each batch of events becomes one bytes object, for one write."""

from collections.abc import Mapping
from typing import ClassVar

from msgspec import json

from signalbox.core.events import JOURNAL_ONLY, VERSION, WITHOUT_TIME, Content, Stamped
from signalbox.core.records import RunRecord

_encode = json.Encoder().encode


class SseV1Encoder:
    """Encodes a run's events after a cursor. The run's first frame also has the contract's version, run id and loop.

    The first frame does not always have seq 1: if a crash lost the first events, the journal begins above their
    numbers. The id is the last line of a frame, so a client that stores the id when its line arrives has already read
    the data.
    """

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    # No proxy may buffer, compress or cache the stream (quirk E7).
    headers: ClassVar[Mapping[str, str]] = {
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-chat-contract": VERSION,
    }
    ping: ClassVar[bytes] = b": ping\n\n"
    starts_anywhere: ClassVar[bool] = True

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        self._is_first = after == 0
        self._id = f"\nid: {run.id}:".encode()
        self._first = b',"v":"%b","run_id":"%b","loop":"%b"}' % (VERSION.encode(), run.id.encode(), run.loop.encode())

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the frames of a batch."""
        if len(batch) == 1:  # every batch of a slow stream
            return self._frame(batch[0])
        run, encode = self._id, _encode
        frames: list[bytes] = []
        for stamped in batch:
            event = stamped.event
            if type(event) is Content and not self._is_first:  # nearly all: inlined, half the cost of a call
                frames.append(b"data: %b%b%d\n\n" % (encode(event), run, stamped.seq))
            else:
                frames.append(self._frame(stamped))
        return b"".join(frames)

    def _frame(self, stamped: Stamped) -> bytes:
        # All events except text have a time. It is inserted into the JSON, which saves a copy of the event.
        event = stamped.event
        data = _encode(event)
        if type(event) not in WITHOUT_TIME:
            if type(event) in JOURNAL_ONLY:
                return b""
            data = b'%b,"ts":%d}' % (data[:-1], stamped.at)
        if self._is_first:
            self._is_first = False
            data = data[:-1] + self._first
        return b"data: %b%b%d\n\n" % (data, self._id, stamped.seq)
