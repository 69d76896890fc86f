"""The load client, if the C one cannot be built.

`python -m tests.bench.load_client PORT PATH BODYFILE CONNECTIONS STREAMS [RAMP_MS] [HEADER ...]` keeps CONNECTIONS
connections busy until STREAMS answers have ended, and prints one JSON object. LOADGEN_LIMIT_S is the time limit.
The text `chat-00000000` in the request becomes another id in each stream.
"""

import asyncio
import os
import re
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httptools
import orjson
import uvloop

_STAMP = re.compile(rb"@(\d{16})@")
_LONGEST = len("@0000000000000000")
_CHAT, _DIGITS = b"chat-00000000", 8
_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


def _now() -> int:
    return time.monotonic_ns() // 1000


class Stream(asyncio.Protocol):
    """A connection that requests one answer after the other until the load is complete."""

    def __init__(self, load: "LoadClient") -> None:
        self._load = load
        self._transport: Any = None
        self._parser: Any = None
        self._started = 0
        self._has_byte = self._has_event = False
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        if not self._load.take_stream():
            self._parser = None
            self._transport.close()
            return
        self._parser = httptools.HttpResponseParser(self)
        self._has_byte, self._has_event, self._tail = False, False, b""
        self._started = _now()
        self._transport.write(self._load.next_request())

    def data_received(self, data: bytes) -> None:
        if self._parser is not None:
            self._parser.feed_data(data)

    def on_headers_complete(self) -> None:
        self._load.bad_status += self._parser.get_status_code() != 200

    def on_body(self, body: bytes) -> None:
        """Find the upstream's timestamps, even if one is split between two reads."""
        now, load = _now(), self._load
        if not self._has_byte:
            self._has_byte = True
            load.times["ttfb"].append(now - self._started)
        text = self._tail + body
        stamps = _STAMP.findall(text)
        if stamps:
            load.add_stamps(stamps, now)
            if not self._has_event:
                self._has_event = True
                load.times["tte"].append(now - self._started)
        load.bytes += len(body)
        load.blank_lines += text.count(b"\n\n") - self._tail.count(b"\n\n")
        self._tail = _unread(text)

    def on_message_complete(self) -> None:
        self._load.end(_now() - self._started)
        if self._parser.should_keep_alive():
            # httptools is still inside feed_data, so the next request and its new parser have to wait.
            asyncio.get_running_loop().call_soon(self._next)
        else:
            self._parser = None
            self._transport.close()
            self._load.dial()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._parser is not None:
            self._parser = None
            self._load.end(None)


def _unread(text: bytes) -> bytes:
    """Return the end of a text that may be the beginning of a timestamp."""
    tail = text[-_LONGEST:]
    at = tail.rfind(b"@")
    return tail[at:] if at >= 0 and (tail[at + 1 :].isdigit() or at + 1 == len(tail)) else text[-1:]


class LoadClient:
    """A load and its measurements; times in microseconds."""

    def __init__(self, port: int, request: bytes, connections: int, streams: int) -> None:
        self._port, self._request, self._connections, self._streams = port, request, connections, streams
        self._chat = secrets.randbelow(10**_DIGITS)  # the chats of earlier loads stay on the server
        self.times: dict[str, list[int]] = {"added": [], "ttfb": [], "tte": [], "total": []}
        self.bad_status = self.bytes = self.blank_lines = self._failed = 0
        self._first_event = self._last_event = 0
        self._left = streams
        self._over = asyncio.Event()
        self._dialling: set[asyncio.Task[Any]] = set()

    def take_stream(self) -> bool:
        """Count another stream; return whether it may begin."""
        self._left -= 1
        return self._left >= 0

    def next_request(self) -> bytes:
        """Return the request of a stream, in a chat that no other stream has."""
        self._chat = (self._chat + 1) % 10**_DIGITS
        return self._request.replace(_CHAT, b"chat-%08d" % self._chat)

    def add_stamps(self, stamps: list[bytes], now: int) -> None:
        """Record the delay of the events with these timestamps."""
        self.times["added"] += [max(0, now - int(stamp)) for stamp in stamps]
        self._first_event = self._first_event or now
        self._last_event = now

    def end(self, microseconds: int | None) -> None:
        """Record the duration of a stream; None if it failed."""
        if microseconds is None:
            self._failed += 1
        else:
            self.times["total"].append(microseconds)
        if self._failed + len(self.times["total"]) >= self._streams:
            self._over.set()

    def dial(self) -> None:
        """Open another connection."""
        task = asyncio.create_task(self._dial())
        self._dialling.add(task)
        task.add_done_callback(self._dialling.discard)

    async def _dial(self) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: Stream(self), "127.0.0.1", self._port)
        except OSError as error:
            print(f"load: {error}", file=sys.stderr)
            if self.take_stream():
                self.end(None)

    async def run(self, ramp: float, limit: float) -> dict[str, Any]:
        """Run streams until all have ended or the time limit is reached, and return the result."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        for place in range(self._connections):
            loop.call_at(started + ramp * place / self._connections, self.dial)
        try:
            await asyncio.wait_for(self._over.wait(), limit)
        except TimeoutError:
            print("load: time limit", file=sys.stderr)
            self._failed = self._streams - len(self.times["total"])
        return self._result(loop.time() - started)

    def _result(self, wall: float) -> dict[str, Any]:
        return {
            "streams": self._failed + len(self.times["total"]),
            "failed": self._failed,
            "bad_status": self.bad_status,
            "events": len(self.times["added"]),
            "blank_lines": self.blank_lines,
            "bytes": self.bytes,
            "wall_s": round(wall, 4),
            "events_wall_s": round((self._last_event - self._first_event) / 1e6, 4),
            **{f"{name}_us": percentiles(microseconds) for name, microseconds in self.times.items()},
        }


def percentiles(microseconds: list[int]) -> dict[str, int]:
    """Return the count and, unless it is 0, the percentiles and the maximum."""
    ordered = sorted(microseconds)
    if not ordered:
        return {"n": 0}
    points = {name: ordered[int((len(ordered) - 1) * share)] for name, share in _PERCENTILES.items()}
    return {"n": len(ordered), **points, "max": ordered[-1]}


def encode_request(port: int, path: str, body: bytes, headers: Sequence[str] = ()) -> bytes:
    """Return the bytes of a request."""
    lines = [f"POST {path} HTTP/1.1", f"host: 127.0.0.1:{port}", "content-type: application/json"]
    lines += ["accept: text/event-stream", f"content-length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def main(arguments: Sequence[str]) -> int:
    """Run the load and print the result; return 1 if a stream failed."""
    port, path, body, connections, streams, *rest = arguments
    request = encode_request(int(port), path, Path(body).read_bytes(), rest[1:])
    ramp, limit = int(rest[0]) / 1000 if rest else 0.0, float(os.environ.get("LOADGEN_LIMIT_S", "120"))
    result = uvloop.run(_run(int(port), request, int(connections), int(streams), ramp=ramp, limit=limit))
    print(orjson.dumps(result).decode(), flush=True)
    return 1 if result["failed"] or result["bad_status"] else 0


async def _run(
    port: int, request: bytes, connections: int, streams: int, *, ramp: float, limit: float
) -> dict[str, Any]:
    return await LoadClient(port, request, connections, streams).run(ramp, limit)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
