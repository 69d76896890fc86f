"""Decodes the events of a streamed message, and whole messages, to parts."""

from collections.abc import Callable
from functools import partial

from signalbox.core.messages import JsonObject, JsonValue, Native
from signalbox.core.parts import (
    CallDelta,
    Citation,
    EndOfStream,
    Fault,
    Finish,
    HiddenReasoning,
    NativeTurn,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    UsageReport,
)
from signalbox.wire.anthropic.blocks import SERVER_TOOLS, Block
from signalbox.wire.anthropic.errors import error_of_value
from signalbox.wire.anthropic.similar import SimilarDeltas, similar_to
from signalbox.wire.anthropic.usage import merged_usage, usage_of
from signalbox.wire.finish_reasons import later_finish
from signalbox.wire.json_text import dumps, loads
from signalbox.wire.openrouter.attachments import Attachments
from signalbox.wire.stream_decoder import StreamDecoder

NAME = "anthropic-messages"
_BORDER = b"\n\n"
# The block that a delta continues, if the block's first event is missing.
_BLOCK_OF = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
}


# The kinds of blocks that a field continues.
_TAKING: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "thinking": ("thinking",),
    "partial_json": ("tool_use", *SERVER_TOOLS),
}


class MessageDecoder:
    """Decodes one message; its blocks are kept, because later requests of the tool loop contain them unchanged.

    `has_outcome`: a stop reason or an error has arrived.
    """

    def __init__(self, served: Served | None = None) -> None:
        self._served = served or Served()
        self._blocks: list[Block] = []
        self._open: dict[JsonValue, Block] = {}
        self._sources = Attachments()
        self._first_model = ""
        self._usage: JsonObject = {}
        self._finished = Finish()
        self._is_closed = False
        self.has_outcome = False

    def event(self, kind: JsonValue, value: JsonObject, out: list[StreamPart]) -> None:
        """Append the parts of one event; unknown events are skipped."""
        match kind:
            case "content_block_delta":
                delta = value.get("delta")
                if isinstance(delta, dict):
                    self._delta(_index(value), delta, out)
            case "content_block_start":
                block = value.get("content_block")
                if isinstance(block, dict):
                    self._start(_index(value), block, out)
            case "content_block_stop":
                if (block := self._open.pop(_index(value), None)) is not None:
                    self._stop(block, out)
            case "message_start":
                message = value.get("message")
                if isinstance(message, dict):
                    self._first_model = self._first_model or _text(message.get("model"))
                    self._serve(message, out)
                    self._report(message.get("usage"), out)
            case "message_delta":
                self._finish(value.get("delta"), out)
                self._report(value.get("usage"), out)
            case "error":
                error = value.get("error")
                out.append(Fault(error_of_value(error), error))
                self.has_outcome = True
            case _:
                pass

    def message(self, value: JsonObject, out: list[StreamPart]) -> None:
        """Append the parts of a whole message."""
        if value.get("error"):
            self.event("error", value, out)
            return
        self._serve(value, out)
        content = value.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict):
                self._start(index, block, out)
                self._stop(self._open.pop(index), out)
        self._finish(value, out)
        self._report(value.get("usage"), out)

    def close(self, out: list[StreamPart]) -> None:
        """Append what was still open, and the whole turn, once."""
        if self._is_closed:
            return
        self._is_closed = True
        # Some servers never end their blocks (recorded: incomplete-partial-json-response).
        for block in self._open.values():
            self._stop(block, out)
        if self._blocks:
            out.append(NativeTurn(Native(NAME, tuple(block.finished() for block in self._blocks))))

    def open_block(self, index: int, field: str) -> Block | None:
        """Return the open block that pieces of this field continue."""
        block = self._open.get(index)
        return block if block is not None and block.kind in _TAKING[field] else None

    def pieces(self, block: Block, field: str, pieces: list[str]) -> list[StreamPart]:
        """Return the parts of pieces of an open block; none of them is empty."""
        block.pieces.setdefault(field, []).extend(pieces)
        make = self.maker(block, field)
        return [] if make is None else [*map(make, pieces)]

    def maker(self, block: Block, field: str) -> "Callable[[str], StreamPart] | None":
        """Return what makes parts of pieces of a field; None for arguments of tools that the API executes."""
        if field != "partial_json":
            return TextDelta if field == "text" else ReasoningDelta
        return partial(CallDelta, block.slot, None, None) if block.kind == "tool_use" else None

    def server_calls(self) -> list[JsonValue]:
        """Describe the calls of tools that the API executed."""
        return [block.server_call() for block in self._blocks if block.kind in SERVER_TOOLS]

    def models(self) -> list[JsonValue]:
        """Return the model that the first event names."""
        return [self._first_model] if self._first_model else []

    def _serve(self, message: JsonObject, out: list[StreamPart]) -> None:
        known = self._served
        self._served = Served(
            known.generation_id or _text(message.get("id")) or None,
            _text(message.get("model")) or known.model,
            _text(message.get("provider")) or known.provider,
        )
        out.append(self._served)

    def _start(self, index: JsonValue, item: JsonObject, out: list[StreamPart]) -> None:
        """Open a block; its first event may contain text, and the whole input of a call."""
        if (before := self._open.pop(index, None)) is not None:
            self._stop(before, out)
        block = Block(len(self._blocks), item, self._blocks[-1].end if self._blocks else 0)
        self._blocks.append(block)
        self._open[index] = block
        match block.kind:
            case "text":
                if text := _text(item.get("text")):
                    out.append(TextDelta(text))
            case "thinking":
                if thinking := _text(item.get("thinking")):
                    out.append(ReasoningDelta(thinking))
                elif item.get("signature"):
                    out.append(HiddenReasoning())
            case "redacted_thinking":
                out.append(HiddenReasoning())
            case "tool_use":
                out.append(CallDelta(block.slot, _text(item.get("id")) or None, _text(item.get("name")) or None, ""))
            case "fallback":  # another model continues the answer
                target = item.get("to")
                self._serve({"model": target.get("model") if isinstance(target, dict) else None}, out)
            case _:
                pass

    def _delta(self, index: JsonValue, delta: JsonObject, out: list[StreamPart]) -> None:
        kind = delta.get("type")
        block = self._open.get(index)
        if block is None:
            missing = _BLOCK_OF.get(kind) if isinstance(kind, str) else None
            if missing is None:
                return
            self._start(index, {"type": missing}, out)
            block = self._open[index]
        block.add(delta)
        match kind:
            case "text_delta":
                if text := _text(delta.get("text")):
                    out.append(TextDelta(text))
            case "thinking_delta":
                if thinking := _text(delta.get("thinking")):
                    out.append(ReasoningDelta(thinking))
            case "input_json_delta":
                piece = _text(delta.get("partial_json"))
                if piece and block.kind == "tool_use":
                    out.append(CallDelta(block.slot, arguments=piece))
            case "signature_delta":
                # Reasoning that the API does not show: an empty text with a signature (recorded: advisor-tool-stream).
                if not block.text_of("thinking") and not block.item.get("thinking"):
                    out.append(HiddenReasoning())
            case _:
                pass

    def _stop(self, block: Block, out: list[StreamPart]) -> None:
        """End a block: arguments from its first event, and its sources, whose text is the text of the block."""
        if block.kind == "tool_use" and (given := block.whole_input) is not None:
            out.append(CallDelta(block.slot, arguments=dumps(given).decode()))
        listed = block.item.get("citations")
        for citation in [*(listed if isinstance(listed, list) else ()), *block.citations]:
            self._cite(citation, block, out)

    def _cite(self, citation: JsonValue, block: Block, out: list[StreamPart]) -> None:
        """Append a source that has an address; sources in documents of the request have none."""
        fields = citation if isinstance(citation, dict) else {}
        url = _text(fields.get("url")) or _text(fields.get("source"))
        title, cited = _text(fields.get("title")), _text(fields.get("cited_text"))
        places = (block.start, block.end) if block.end > block.start else (None, None)
        self._sources.cite(Citation(url, title, cited, *places), out)

    def _finish(self, delta: JsonValue, out: list[StreamPart]) -> None:
        fields = delta if isinstance(delta, dict) else {}
        word = fields.get("stop_reason")
        if word is None or word == "":
            return
        details = fields.get("stop_details")
        if isinstance(details, dict) and (why := _text(details.get("explanation"))):
            out.append(RefusalDelta(why))
        word = word if isinstance(word, str) else dumps(word)[:64].decode("utf-8", "replace")
        self._finished = later_finish(self._finished, word, None)
        out.append(self._finished)
        self.has_outcome = True

    def _report(self, usage: JsonValue, out: list[StreamPart]) -> None:
        """Append the tokens so far. The first report has the prompt, the last one the answer; counts are totals."""
        if isinstance(usage, dict) and usage:
            self._usage = merged_usage(self._usage, usage)
            out.append(UsageReport(usage_of(self._usage), self._usage))


class MessageStreamDecoder(StreamDecoder):
    """Decodes server-sent events up to `message_stop`, or to the `[DONE]` of some proxies."""

    def __init__(self, served: Served | None = None) -> None:
        super().__init__()
        self._message = MessageDecoder(served)
        self._similar: SimilarDeltas | None = None
        self._block = Block(0, {})
        self._pieces: list[str] = []
        self._make: Callable[[str], StreamPart] | None = None

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes; raises UpstreamError for a frame without an end."""
        similar = self._similar
        if similar is not None and self._sse.is_between_frames and (piece := similar.piece_of(data)) is not None:
            self._pieces.append(piece)
            return [self._make(piece)] if piece and self._make is not None else []
        out: list[StreamPart] = []
        start = self._decode_similar(data, 0, out)
        is_large = False
        while start < len(data):  # different events one by one, and the runs of similar ones after them
            border = data.find(_BORDER, start)
            end = len(data) if border < 0 else border + len(_BORDER)
            out += super().feed(data[start:end])
            is_large = is_large or self.is_large
            start = self._decode_similar(data, end, out)
        self.is_large = is_large
        return out

    def _decode_similar(self, data: bytes, start: int, out: list[StreamPart]) -> int:
        """Append the pieces of the similar events that begin at `start`; return where the rest begins."""
        similar = self._similar
        if similar is None or start == len(data) or not self._sse.is_between_frames:
            return start
        pieces, end = similar.pieces_at(data, start)
        out += self._message.pieces(self._block, similar.field, list(filter(None, pieces)))
        return end

    def decode(self, event: str | None, data: bytes, out: list[StreamPart]) -> None:
        """Append the parts of one event."""
        self._similar = None
        if data == b"[DONE]":
            self._end(out)
            return
        value = self.value_of(data, out)
        if not isinstance(value, dict):
            return
        kind = value.get("type") or ("error" if value.get("error") else event)
        if kind == "message_stop":
            self._end(out)
            return
        self._message.event(kind, value, out)
        self.has_outcome = self.has_outcome or self._message.has_outcome
        if (similar := similar_to(event, data)) is not None:
            block = self._message.open_block(similar.index, similar.field)
            if block is not None:
                self._similar, self._block = similar, block
                self._pieces = block.pieces.setdefault(similar.field, [])
                self._make = self._message.maker(block, similar.field)

    def close(self) -> list[StreamPart]:
        """Return the parts that were still open when the bytes ended, and the whole turn."""
        out = super().close()
        self._message.close(out)
        return out

    def described(self) -> JsonObject:
        """Return the calls of tools that the API executed, with the text of their arguments, and the model's name."""
        return {"server_tool_calls": self._message.server_calls(), "model_in_stream": self._message.models()}

    def _end(self, out: list[StreamPart]) -> None:
        self._message.close(out)
        out.append(EndOfStream())
        self.has_outcome = self.has_ended = True


def parts_of_body(body: bytes, served: Served | None = None) -> list[StreamPart]:
    """Decode one whole message like a stream; raises ValueError if it is not a JSON object."""
    value = loads(body)
    if not isinstance(value, dict):
        raise ValueError("the body is not a JSON object")  # noqa: TRY004 - the text is wrong, not its type
    out: list[StreamPart] = []
    decoder = MessageDecoder(served)
    decoder.message(value, out)
    decoder.close(out)
    out.append(EndOfStream())
    return out


def _index(value: JsonObject) -> JsonValue:
    """Return the index of a block; None for one that is not a number."""
    index = value.get("index")
    return index if isinstance(index, int) else None


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
