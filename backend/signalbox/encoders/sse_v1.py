"""Encodes contract v1.1 as server-sent events: each batch of events becomes one bytes object, for one write."""

from collections.abc import Mapping
from json import loads
from typing import ClassVar

from msgspec import UNSET, json
from msgspec.structs import replace

from signalbox.core.events import JOURNAL_ONLY, VERSION, WITHOUT_TIME, AnyEvent, Call, Content, Stamped, ToolCalls
from signalbox.core.records import RunRecord
from signalbox.wire.json_text import dumps

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
        self._has_previews = run.echo.get("previews") is True
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
        event = stamped.event
        data = _encode(event) if type(event) is Content else self._data(event, stamped.at)
        if not data:
            return b""
        if self._is_first:
            self._is_first = False
            data = data[:-1] + self._first
        return b"data: %b%b%d\n\n" % (data, self._id, stamped.seq)

    def _data(self, event: AnyEvent, at: int) -> bytes:
        """Return the JSON of an event; empty if the contract does not have it."""
        if type(event) in JOURNAL_ONLY:
            return b""
        if self._has_previews and type(event) is ToolCalls:
            event = replace(event, calls=list(map(_without_previewed, event.calls)))
        data = _encode(event)
        # All events except text have a time. It is inserted into the JSON, which saves a copy of the event.
        return data if type(event) in WITHOUT_TIME else b'%b,"ts":%d}' % (data[:-1], at)


def _without_previewed(call: Call) -> Call:
    """Return a call without the strings that its previews contain."""
    if call.previewed is UNSET:
        return call
    arguments = loads(call.arguments)  # not orjson, which reads integers beyond 64 bits as floats
    for pointer in call.previewed:
        *path, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
        inside = arguments
        for token in path:
            inside = inside[int(token) if isinstance(inside, list) else token]
        inside[int(last) if isinstance(inside, list) else last] = ""
    return replace(call, arguments=dumps(arguments).decode())
