"""Reads a model's answer: a stream as it arrives, anything else as a whole."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

from signalbox.core.bounds.in_flight import IN_FLIGHT, Share
from signalbox.core.bounds.part_slices import slices_of
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import Fault, Served, StreamPart
from signalbox.core.ports import Emit
from signalbox.services.http.errors import HttpError
from signalbox.services.http.progress import ProgressLimit
from signalbox.services.http.response import Response
from signalbox.wire.json_weight import LARGE, MOST_VALUES, JsonWeight
from signalbox.wire.stream_decoder import StreamDecoder

# Bytes of a whole body.
_BODY_LIMIT = 32 * 1024 * 1024
# Seconds to read the end of the body after [DONE], so that the connection can be reused for the next step.
_AFTER_DONE = 0.25
# After an error or a finish reason, usage may follow, and from some providers a little text: seconds of silence that
# end this tail, and of the whole tail.
_AFTER_FINISH = 5.0
_AT_MOST_AFTER_FINISH = 30.0

ReadWhole: TypeAlias = Callable[[bytes], list[StreamPart]]
"""Reads an answer that is one JSON body; raises ValueError for anything else."""


class ResponseReader:
    """Reads one answer to a request for a stream; `read_whole` parses one that is not streamed.

    Up to the finish reason, parts are emitted inside the socket's read callback. The tail is awaited, because its time
    is limited. `hide` removes the key from errors that arrive inside a 200. Before the finish reason, a read without
    parts is no progress.
    """

    def __init__(
        self,
        response: Response,
        decoder: StreamDecoder,
        read_whole: ReadWhole,
        emit: Emit[list[StreamPart]],
        hide: Callable[[UpstreamError], None],
        *,
        progress: ProgressLimit,
    ) -> None:
        self._response = response
        self._decoder = decoder
        self._read_whole = read_whole
        self._emit = emit
        self._hide = hide
        self._progress = progress
        self._body: bytes | None = None  # the first read of an answer that is not streamed
        self._large: list[StreamPart] = []  # parts of a large frame, to be emitted in slices
        self._share = Share(IN_FLIGHT)

    async def run(self) -> None:
        """Emit the parts of each network read, to the end. Raises UpstreamError and HttpError."""
        try:
            await self._read()
        finally:
            self._share.hold(0)

    async def _read(self) -> None:
        try:
            await self._stream()
            if self._body is not None:
                # A JSON body in answer to a stream request: an error in a 200, or a host that does not stream (E1).
                rest = await read_all(self._response, progress=self._progress)
                self._large = parse_whole(self._body + rest, self._read_whole)
                await self._emit_large()
                return
            if self._decoder.has_outcome and not self._decoder.has_ended:
                await self._read_tail()
        except HttpError:
            # What came before the failure counts: a last frame without its blank line, and the signatures of a step
            # whose finish had arrived; without them its calls could not be sent back (quirk B1).
            self._emit_safely(self._decoder.close())
            raise
        if not self._decoder.has_ended:
            self._emit_safely(self._decoder.close())
        elif not self._response.is_complete:
            await _drain(self._response)

    async def _stream(self) -> None:
        """Emit the parts of each read up to the finish reason."""
        await self._response.stream_body(self._receive)
        while self._large:
            await self._emit_large()
            if self._decoder.has_outcome:
                return
            await self._response.stream_body(self._receive)

    async def _emit_large(self) -> None:
        """Emit a large frame's parts in slices, one per iteration of the event loop."""
        parts, self._large = self._large, []
        self._decoder.is_large = False
        for some in slices_of(parts):
            self._emit_safely(some)
            await asyncio.sleep(0)
        self._share.hold(self._decoder.held)

    def _receive(self, data: bytes) -> None:
        """Decode one network read; stop the streaming if the rest is read in another way."""
        decoder = self._decoder
        if not decoder.has_begun and (start := data.lstrip()[:1]):
            _refuse_foreign(start, self._response)
            if start in b"{[":
                self._body = data
                self._response.stop_streaming()
                return
        parts = decoder.feed(data)
        if parts:
            self._progress.quiet_since = None
        elif not decoder.has_outcome:
            self._progress.check()
        if decoder.is_large:
            _hold(self._share, decoder.held)
            if parts:
                self._large = parts
                self._response.stop_streaming()
                return
        if decoder.has_outcome:  # a fault is one, too
            self._emit_safely(parts)
            self._response.stop_streaming()
        elif parts:
            self._emit(parts)

    def _emit_safely(self, parts: list[StreamPart]) -> None:
        """Emit parts that may hold an error, without the key."""
        if Fault in map(type, parts):
            for part in parts:
                if type(part) is Fault:
                    self._hide(part.error)
        if parts:
            self._emit(parts)

    async def _read_tail(self) -> None:
        """Read what follows an error or a finish reason (usage, late text) for a limited time."""
        loop = asyncio.get_running_loop()
        last = loop.time() + _AT_MOST_AFTER_FINISH
        try:
            while not self._decoder.has_ended:
                async with asyncio.timeout_at(min(last, loop.time() + _AFTER_FINISH)):
                    data = await anext(self._response, None)
                if data is None:
                    return
                self._receive(data)
                if self._large:
                    await self._emit_large()
        except TimeoutError:
            return


def served_of(response: Response, id_header: str | None) -> Served:
    """Return what the head says: the generation's id, known before the first byte of the body (quirk F4)."""
    return Served(generation_id=response.header(id_header)) if id_header else Served()


def parse_whole(body: bytes, read_whole: ReadWhole) -> list[StreamPart]:
    """Return the parts of an answer that is not streamed; raises UpstreamError if it is cut short or not JSON."""
    try:
        return read_whole(body)
    except ValueError as error:
        is_cut = not body.strip() or _is_cut(error)
    # Raised outside the handler: as its context the JSON error would keep the whole text.
    if is_cut:
        raise UpstreamError(Code.STREAM_CUT)
    words = "The upstream's answer is not a JSON object; check the upstream's URL."
    raise UpstreamError(Code.UPSTREAM_PROTOCOL, words)


async def read_all(
    reads: AsyncIterator[bytes],
    most_bytes: int = _BODY_LIMIT,
    most_values: int = MOST_VALUES,
    progress: ProgressLimit | None = None,
) -> bytes:
    """Return the rest of a body; raises UpstreamError if it is too large or holds too many values.

    White space, which some servers send as a keep-alive before the body, is no `progress`.
    """
    pieces: list[bytes] = []
    size = 0
    weight: JsonWeight | None = None
    with IN_FLIGHT.share() as share:
        async for piece in reads:
            if progress is not None:
                _check(progress, piece)
            pieces.append(piece)
            size += len(piece)
            if size > most_bytes:
                words = f"The upstream's answer is larger than {most_bytes // 1024 // 1024} MB."
                raise UpstreamError(Code.UPSTREAM_PROTOCOL, words, retryable=False)
            if size > LARGE:
                _hold(share, size)
                weight, unweighed = (weight, piece) if weight else (JsonWeight(most_values), b"".join(pieces))
                weight.feed(unweighed)
        return b"".join(pieces)


def _check(progress: ProgressLimit, piece: bytes) -> None:
    if piece.isspace():
        progress.check()
    else:
        progress.quiet_since = None


def _hold(share: Share, size: int) -> None:
    if not share.hold(size):
        raise UpstreamError(Code.TOO_MUCH_AT_ONCE)


def _refuse_foreign(start: bytes, response: Response) -> None:
    """Reject a 200 that no chat API sent."""
    coding = response.header("content-encoding")
    if coding and (coding := coding.strip().lower()) not in ("", "identity"):
        words = f"The upstream compressed its stream ({coding}) although this was not requested."
        raise UpstreamError(Code.UPSTREAM_PROTOCOL, words)
    if start == b"<":
        raise UpstreamError(Code.UPSTREAM_PROTOCOL, "The upstream returned a web page; check the upstream's URL.")


def _is_cut(error: ValueError) -> bool:
    """Return whether the text ends inside a JSON object; some proxies end a cut body cleanly (quirk E2)."""
    if not isinstance(error, json.JSONDecodeError) or not error.doc.lstrip().startswith("{"):
        return False
    missing = len(error.doc.rstrip()) - error.pos
    return error.msg.startswith("Unterminated string") or missing < len("false")


async def _drain(response: Response) -> None:
    """Read what follows [DONE], for a moment."""
    try:
        async with asyncio.timeout(_AFTER_DONE):
            async for _ in response:
                pass
    except (TimeoutError, HttpError):
        return  # the answer is whole; only the connection is not reused
