"""An upstream's answer as it is read: a stream where it arrives, anything else as a whole."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

import httpx

from signalbox.core.bounds.in_flight import IN_FLIGHT, Share
from signalbox.core.bounds.part_slices import slices_of
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import Fault, Served, StreamPart
from signalbox.core.ports import Emit
from signalbox.services.http.client import field, is_read, pour
from signalbox.wire.json_weight import LARGE, MOST_VALUES, JsonWeight
from signalbox.wire.stream_decoder import StreamDecoder

# A whole body or an error page beyond this is not read to its end.
_BODY_LIMIT = 32 * 1024 * 1024
# Behind [DONE] comes only the end of the body; reading it keeps the connection for the next step.
_AFTER_DONE = 0.25
# Behind an error or a finish reason usage may follow, and from some hosts a little text: so long a silence ends it.
_AFTER_FINISH = 5.0
_AT_MOST_AFTER_FINISH = 30.0

ReadWhole: TypeAlias = Callable[[bytes], list[StreamPart]]
"""Reads an answer that is one JSON body; raises ValueError for anything else."""


class Hearing:
    """One answer to a request for a stream; `read_whole` reads one that came as a whole instead.

    Until its finish reason the reads are poured through `emit` where they arrive; what follows that is awaited, since
    it must not be waited for too long. `hide` keeps the key out of errors that came inside a 200.
    """

    def __init__(
        self,
        answer: httpx.Response,
        decoder: StreamDecoder,
        read_whole: ReadWhole,
        emit: Emit[list[StreamPart]],
        hide: Callable[[UpstreamError], None],
    ) -> None:
        self._answer = answer
        self._decoder = decoder
        self._read_whole = read_whole
        self._emit = emit
        self._hide = hide
        self._body: bytes | None = None
        self._later: list[StreamPart] = []  # of a large frame, to be handed over slice by slice
        self._share = Share(IN_FLIGHT)

    async def run(self) -> None:
        """Hand over the parts of each read, to the end. Raises UpstreamError, and httpx's TransportError."""
        try:
            await self._hear_all(self._answer.aiter_raw())
        finally:
            self._share.hold(0)

    async def _hear_all(self, reads: AsyncIterator[bytes]) -> None:
        try:
            await self._pour(reads)
            if self._body is not None:
                # A JSON body in answer to a stream request: an error in a 200, or a host that does not stream (E1).
                self._later = whole(self._body + await rest(reads), self._read_whole)
                await self._hand_over()
                return
            if self._decoder.has_outcome and not self._decoder.has_ended:
                await self._hear_tail(reads)
        except httpx.TransportError:
            # What came before the break counts: a last frame without its blank line, and the signatures of a step that
            # had told its finish; without them its calls could not go back (quirk B1).
            self._tell(self._decoder.close())
            raise
        if self._decoder.has_ended:
            if not is_read(self._answer):
                await _finish(reads)
        else:
            self._tell(self._decoder.close())

    async def _pour(self, reads: AsyncIterator[bytes]) -> None:
        """Hear the reads up to the finish reason, each where it arrives."""
        await pour(self._answer, reads, self._hear)
        while self._later:
            await self._hand_over()
            if self._decoder.has_outcome:
                return
            await pour(self._answer, reads, self._hear)

    async def _hand_over(self) -> None:
        """Hand a large frame's parts over, with turns of the loop for everything else in between."""
        parts, self._later = self._later, []
        self._decoder.is_large = False
        for some in slices_of(parts):
            self._tell(some)
            await asyncio.sleep(0)
        self._share.hold(self._decoder.held)

    def _hear(self, data: bytes) -> bool:
        """Take one network read in; true when more of them need not be poured."""
        decoder = self._decoder
        if not decoder.has_begun and (start := data.lstrip()[:1]):
            _refuse_foreign(start, self._answer)
            if start in b"{[":
                self._body = data
                return True
        parts = decoder.feed(data)
        if decoder.is_large:
            _hold(self._share, decoder.held)
            if parts:
                self._later = parts
                return True
        if decoder.has_outcome:  # by a fault, too
            self._tell(parts)
            return True
        if parts:
            self._emit(parts)
        return False

    def _tell(self, parts: list[StreamPart]) -> None:
        if Fault in map(type, parts):
            for part in parts:
                if type(part) is Fault:
                    self._hide(part.error)
        if parts:
            self._emit(parts)

    async def _hear_tail(self, reads: AsyncIterator[bytes]) -> None:
        """Read what is still told behind an error or a finish (usage, late text), for a while."""
        loop = asyncio.get_running_loop()
        last = loop.time() + _AT_MOST_AFTER_FINISH
        try:
            while not self._decoder.has_ended:
                async with asyncio.timeout_at(min(last, loop.time() + _AFTER_FINISH)):
                    data = await anext(reads, None)
                if data is None:
                    return
                self._hear(data)
                if self._later:
                    await self._hand_over()
        except TimeoutError:
            return


def served_by(answer: httpx.Response, id_header: str | None) -> Served:
    """Read which generation this is from the headers, before the first byte of it (quirk F4)."""
    return Served(generation_id=field(answer, id_header)) if id_header else Served()


def whole(body: bytes, read_whole: ReadWhole) -> list[StreamPart]:
    """Return the parts of an answer that came as a whole; raises UpstreamError for one that is cut, or none."""
    try:
        return read_whole(body)
    except ValueError as error:
        is_cut = not body.strip() or _is_cut(error)
    # Raised behind the handler: as its context the JSON error would keep the whole text.
    if is_cut:
        raise UpstreamError(Code.STREAM_CUT)
    words = "The upstream's answer is not a JSON object; check OPENROUTER_BASE_URL."
    raise UpstreamError(Code.UPSTREAM_PROTOCOL, words)


async def rest(reads: AsyncIterator[bytes], most_bytes: int = _BODY_LIMIT, most_values: int = MOST_VALUES) -> bytes:
    """Return what is left of a body; raises UpstreamError where it is too large, or holds too many values."""
    pieces: list[bytes] = []
    size = 0
    weight: JsonWeight | None = None
    with IN_FLIGHT.share() as share:
        async for piece in reads:
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


def _hold(share: Share, size: int) -> None:
    if not share.hold(size):
        raise UpstreamError(Code.TOO_MUCH_AT_ONCE)


def _refuse_foreign(start: bytes, answer: httpx.Response) -> None:
    """Refuse a 200 that is no answer of a chat API at all."""
    coding = field(answer, "content-encoding")
    if coding and (coding := coding.strip().lower()) not in ("", "identity"):
        words = f"The upstream compressed its stream ({coding}) although this was not requested."
        raise UpstreamError(Code.UPSTREAM_PROTOCOL, words)
    if start == b"<":
        raise UpstreamError(Code.UPSTREAM_PROTOCOL, "The upstream returned a web page; check OPENROUTER_BASE_URL.")


def _is_cut(error: ValueError) -> bool:
    """Whether an object was begun and its text ends before it does; some proxies end a cut body cleanly (quirk E2)."""
    if not isinstance(error, json.JSONDecodeError) or not error.doc.lstrip().startswith("{"):
        return False
    missing = len(error.doc.rstrip()) - error.pos
    return error.msg.startswith("Unterminated string") or missing < len("false")


async def _finish(reads: AsyncIterator[bytes]) -> None:
    """Read what follows [DONE], for a moment."""
    try:
        async with asyncio.timeout(_AFTER_DONE):
            async for _ in reads:
                pass
    except (TimeoutError, httpx.HTTPError):
        return  # the answer is whole; only the connection is not kept
