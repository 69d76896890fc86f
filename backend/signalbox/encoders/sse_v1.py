"""The contract v1.1 as server-sent events: a batch of stamped events becomes one bytes, for one write."""

from msgspec import json

from signalbox.core.events import VERSION, Content, LoopName, Stamped

CONTENT_TYPE = "text/event-stream; charset=utf-8"
PING = b": ping\n\n"
# One write per batch and no proxy in between that collects, compresses or caches (quirk E7).
HEADERS = {
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-chat-contract": VERSION,
}

_encode = json.Encoder().encode


class SseV1Encoder:
    """Encodes one run's events behind a cursor. The first frame that a client sees of a run also says who speaks.

    The id is a frame's last line: clients that note an id as soon as its line has come have read the data before it.

    That is not always seq 1: where a crash has taken the first events, the journal begins above them.
    """

    def __init__(self, run_id: str, loop: LoopName, after: int = 0) -> None:
        self._is_first = after == 0
        self._id = f"\nid: {run_id}:".encode()
        self._first = b',"v":"%b","run_id":"%b","loop":"%b"}' % (VERSION.encode(), run_id.encode(), loop.encode())

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the frames of a batch."""
        if len(batch) == 1:  # of a slow stream every batch
            return self._frame(batch[0])
        run, encode = self._id, _encode
        frames: list[bytes] = []
        for stamped in batch:
            event = stamped.event
            if type(event) is Content and not self._is_first:  # nearly all: written here, in half the steps of a call
                frames.append(b"data: %b%b%d\n\n" % (encode(event), run, stamped.seq))
            else:
                frames.append(self._frame(stamped))
        return b"".join(frames)

    def _frame(self, stamped: Stamped) -> bytes:
        # Everything but `content` carries its time; it is put in behind the event's own fields, which saves a copy of
        # each event with a time in it.
        event = stamped.event
        data = _encode(event)
        if type(event) is not Content:
            data = b'%b,"ts":%d}' % (data[:-1], stamped.at)
        if self._is_first:
            self._is_first = False
            data = data[:-1] + self._first
        return b"data: %b%b%d\n\n" % (data, self._id, stamped.seq)
