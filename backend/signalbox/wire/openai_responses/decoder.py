"""Decodes the events of the Responses API, and whole responses, to parts."""

import msgspec
from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue, Native
from signalbox.core.parts import EndOfStream, Fault, NativeTurn, Served, StreamPart, TokenLogprobs
from signalbox.wire.json_text import loads
from signalbox.wire.openai_responses.describe import describe_items
from signalbox.wire.openai_responses.errors import error_of
from signalbox.wire.openai_responses.fields import index_of, object_of, objects_of, text_of
from signalbox.wire.openai_responses.items import Output
from signalbox.wire.openai_responses.response import finish_of_response, served_of, usage_of
from signalbox.wire.stream_decoder import StreamDecoder

NAME = "openai-responses"
# The kind of text by the event that has a piece of it. The last two are names of earlier versions, which some servers
# still send.
_PIECES = {
    "response.output_text.delta": "output_text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary_text",
    "response.reasoning_text.delta": "reasoning_text",
    "response.reasoning_summary.delta": "summary_text",
    "response.reasoning.delta": "reasoning_text",
}
_ARGUMENTS = "response.function_call_arguments.delta"
# The kind of text by the event that has all of it, and the field that holds it.
_WHOLE = {
    "response.output_text.done": ("output_text", "text"),
    "response.refusal.done": ("refusal", "refusal"),
    "response.reasoning_summary_text.done": ("summary_text", "text"),
    "response.reasoning_text.done": ("reasoning_text", "text"),
}
_STARTS = ("response.created", "response.in_progress", "response.queued")
_ENDS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
_EVENT, _DATA, _BORDER = b"event: ", b"\ndata: ", b"\n\n"
_LINE_ENDS = 3
_ERRORS = ("error", "response.error")  # the second one is sent by proxies
# A larger frame is no piece.
_LARGEST_PIECE = 4096


class _Piece(Struct, gc=False):
    """The fields of a frame with a piece, which most frames are."""

    type: str
    delta: str
    output_index: int
    content_index: int = 0
    summary_index: int = 0
    logprobs: tuple[()] | None = ()


_read_piece = msgspec.json.Decoder(_Piece).decode


class ResponseDecoder(StreamDecoder):
    """Decodes a streamed response. An event of an unknown type is skipped.

    Each of the four terminal events has its own finish reason. A stream without one of them is unfinished, also if it
    ends with `[DONE]`, which OpenRouter adds.
    """

    def __init__(self, served: Served | None = None) -> None:
        """Begin; `served` is what the response headers contain."""
        super().__init__()
        self._output = Output()
        self._served: Served = served or Served()
        self._emitted = Served()
        self._fault: Fault | None = None
        self._incomplete: JsonValue = None

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes; raises UpstreamError for a frame without an end."""
        out: list[StreamPart] = []
        # Most reads of a slow stream are one frame with a piece.
        if self._sse.is_between_frames and (piece := _piece_in(data)) is not None and not self.has_ended:
            self._add(piece, out)
            return out
        self._update_flags(data)
        for frame in self._sse.feed(data):
            piece = _piece_of(frame.data)
            if piece is None or self.has_ended:
                self._dispatch(frame, out)
            else:
                self._add(piece, out)
        return out

    def decode(self, event: str | None, data: bytes, out: list[StreamPart]) -> None:
        """Append the parts of one event that is no mere piece."""
        if data == b"[DONE]":
            self._emit_fault(out)
            self.has_outcome = self.has_ended = True
            return
        value = self.value_of(data, out)
        if isinstance(value, dict):
            self._decode_event(text_of(value.get("type")) or event or "", value, out)

    def close(self) -> list[StreamPart]:
        """Return the parts that were still open when the bytes ended."""
        out = super().close()
        self._emit_fault(out)
        return out

    def described(self) -> JsonObject:
        """Return why the response is incomplete, and its items, which are no `NativeTurn` if the stream was cut."""
        return {"incomplete_details": self._incomplete, **describe_items(self._output.items)}

    def _add(self, piece: _Piece, out: list[StreamPart]) -> None:
        """Append a piece of text or of arguments."""
        if (kind := _PIECES.get(piece.type)) is None:
            self._output.calls.piece(piece.output_index, piece.delta, out)
            return
        inner = piece.summary_index if kind == "summary_text" else piece.content_index
        self._output.piece((kind, piece.output_index, inner), piece.delta, out)

    def _decode_event(self, name: str, value: JsonObject, out: list[StreamPart]) -> None:
        output = self._output
        at = output.position_of(value)
        if (kind := _PIECES.get(name)) is not None:
            _add_logprobs(value, out)
            output.piece(output.place_of(kind, value), text_of(value.get("delta")), out)
        elif name == _ARGUMENTS:
            output.calls.piece(at, text_of(value.get("delta")), out)
        elif name in _WHOLE:
            kind, field = _WHOLE[name]
            output.whole(output.place_of(kind, value), text_of(value.get(field)), out)
        elif name == "response.output_item.added":
            item = object_of(value.get("item"))
            if item.get("type") == "function_call":
                output.calls.add(item, at, out)
        elif name == "response.output_item.done":
            output.finish(object_of(value.get("item")), at, out)
        elif name == "response.output_text.annotation.added":
            output.cite(value.get("annotation"), at, index_of(value.get("content_index")), out)
        else:
            self._decode_status(name, value, out)

    def _decode_status(self, name: str, value: JsonObject, out: list[StreamPart]) -> None:
        """Decode an event about the response as a whole."""
        if name in _STARTS:
            self._add_served(object_of(value.get("response")), out)
        elif name in _ENDS:
            response = object_of(value.get("response"))
            self.end(response, _word_of(response, _ENDS[name]), out)
        elif name in _ERRORS or (not name and value.get("error")):
            # `response.failed` usually follows and has the error again, with the same code (recorded: openai-error.1).
            raw = value.get("error") or object_of(value.get("response")).get("error") or value
            self._fault = Fault(error_of(raw), raw)
            self.has_outcome = True

    def end(self, response: JsonObject, word: str, out: list[StreamPart]) -> None:
        """Append the end of a response; `word` is its status, empty for an error in a 200."""
        self._add_served(response, out)
        self._incomplete = response.get("incomplete_details")
        output = self._output
        if not output.items:  # a whole response, or a server that sends the items only here
            for at, item in enumerate(objects_of(response.get("output"))):
                output.finish(item, at, out)
        if word:
            out.append(finish_of_response(response, word, has_calls=len(output.calls) > 0))
        if (report := usage_of(response.get("usage"))) is not None:
            out.append(report)
        if error := response.get("error"):
            self._fault = Fault(error_of(error), error)
        elif word == "cancelled" and self._fault is None:
            self._fault = Fault(UpstreamError(Code.UPSTREAM_ERROR, "The upstream cancelled the response."))
        self._emit_fault(out)
        if output.items:
            out.append(NativeTurn(Native(NAME, tuple(output.items))))
        out.append(EndOfStream())
        self.has_outcome = self.has_ended = True

    def _add_served(self, response: JsonObject, out: list[StreamPart]) -> None:
        self._served = served_of(response, self._served)
        if self._served != self._emitted:
            self._emitted = self._served
            out.append(self._served)

    def _emit_fault(self, out: list[StreamPart]) -> None:
        if self._fault is not None:
            out.append(self._fault)
            self._fault = None


def _piece_in(read: bytes) -> _Piece | None:
    """Return the piece of a read that is one frame of two lines, the event and the data; None for any other read."""
    if read.endswith(_BORDER) and read.startswith(_EVENT) and read.count(b"\n") == _LINE_ENDS and b"\r" not in read:
        start = read.find(_DATA)
        return _piece_of(read[start + len(_DATA) : -len(_BORDER)]) if start >= 0 else None
    return None


def _piece_of(data: bytes) -> _Piece | None:
    """Return the piece of text or of arguments that a frame's data contains; None for any other frame."""
    if len(data) > _LARGEST_PIECE:
        return None
    try:
        piece = _read_piece(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return piece if piece.type in _PIECES or piece.type == _ARGUMENTS else None


def parts_of_body(body: bytes, served: Served | None = None) -> list[StreamPart]:
    """Decode one whole response like a stream; raises ValueError if it is not a JSON object."""
    value = loads(body)
    if not isinstance(value, dict):
        raise ValueError("the body is not a JSON object")  # noqa: TRY004 - the text is wrong, not its type
    out: list[StreamPart] = []
    ResponseDecoder(served).end(value, _word_of(value, ""), out)
    return out


def _word_of(response: JsonObject, event: str) -> str:
    """Return how a response ended. The event and the status agree, unless a server always sends `completed`."""
    status = text_of(response.get("status"))
    return status if status and event in ("", "completed") else event


def _add_logprobs(value: JsonObject, out: list[StreamPart]) -> None:
    """Append the log probabilities of a piece; those of a refusal and of reasoning are not sent."""
    logprobs: JsonValue = value.get("logprobs")
    if isinstance(logprobs, list) and logprobs:
        out.append(TokenLogprobs(tuple(logprobs)))
