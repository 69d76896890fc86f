"""Decodes chunks and whole bodies of chat completions to parts."""

from collections.abc import Mapping
from itertools import repeat

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import (
    CallDelta,
    Details,
    EndOfStream,
    Fault,
    Finish,
    HiddenReasoning,
    ReasoningDelta,
    RefusalDelta,
    Served,
    StreamPart,
    TextDelta,
    TokenLogprobs,
    Usage,
    UsageReport,
)
from signalbox.wire.finish_reasons import later_finish
from signalbox.wire.json_text import dumps, loads
from signalbox.wire.openrouter.attachments import Attachments
from signalbox.wire.openrouter.errors import error_of_value
from signalbox.wire.openrouter.reasoning_details import ReasoningDetails
from signalbox.wire.openrouter.template_decoder import pieces_of
from signalbox.wire.openrouter.typed_chunk import NOT_PLAIN, PlainDelta, origin_of, read_plain

_PIECES = (TextDelta, CallDelta)
# Characters of a finish reason that is not a string: enough to recognise it.
_MOST_STOP_WORD = 64
# Larger counts and prices are invalid; JavaScript cannot represent larger integers exactly.
_MOST = 2**53


class ChunkDecoder:
    """Decodes chunk objects; stores only what must be merged over chunks.

    `has_outcome`: a finish reason or an error has arrived. `is_plain`: the last chunk ended with a piece of text or of
    a call's arguments, so the next one probably does too. `origin` is the id, model and provider of the last chunk.
    """

    def __init__(self, served: Served | None = None) -> None:
        self._details = ReasoningDetails()
        self._attachments = Attachments()
        self._served: Served = served or Served()
        self._emitted: Served = Served()
        self.origin: tuple[JsonValue, JsonValue, JsonValue] | None = None
        self._finished = Finish()
        self.has_outcome = False
        self.is_plain = False

    def plain(self, data: bytes) -> list[StreamPart] | None:
        """Return the parts of a chunk of the same shape as the last one; None for any other, without side effects."""
        try:
            chunk = read_plain(data)
        except NOT_PLAIN:
            self.is_plain = False
            return None
        if origin_of(chunk) != self.origin:
            self.is_plain = False
            return None
        return _pieces(chunk.choices.first.delta)

    def similar(self, frames: bytes, out: list[StreamPart]) -> bytes:
        """Decode the leading frames that differ only in their piece, if there are enough of them; return the rest."""
        pieces, index, others = pieces_of(frames, self.origin)
        if index is None:
            out.extend(map(TextDelta, filter(None, pieces)))
        else:
            out.extend(map(CallDelta, repeat(index), repeat(None), repeat(None), pieces))
        return others

    def chunk(self, chunk: JsonObject, out: list[StreamPart], *, failed: bool = False) -> None:
        """Append the parts of one chunk: origin, content, usage, error, in this order."""
        origin = (chunk.get("id"), chunk.get("model"), chunk.get("provider"))
        if origin != self.origin:  # every chunk repeats it
            self._set_origin(origin, out)
        error = chunk.get("error")
        if failed and not error:
            error = chunk
        choice = _choice_zero(chunk)
        if choice is not None:
            delta = choice.get("delta")
            # `message` beside `delta` repeats all text so far (Perplexity, Writer); without `delta` it is the answer.
            content = delta if isinstance(delta, dict) else choice.get("message")
            if isinstance(content, dict):
                if (logprobs := choice.get("logprobs")) and not content.get("tool_calls"):
                    _add_logprobs(logprobs, out)
                self._delta(content, out)
            self._finish(choice, out)
            error = error or choice.get("error")
        self.is_plain = bool(out) and type(out[-1]) in _PIECES
        _usage(chunk, out)
        if error:
            out.append(Fault(error_of_value(error), error))
            self.has_outcome = True

    def close(self, out: list[StreamPart]) -> None:
        """Append the merged reasoning details, once."""
        if items := self._details.pop_all():
            out.append(Details(items))

    def _set_origin(self, origin: tuple[JsonValue, JsonValue, JsonValue], out: list[StreamPart]) -> None:
        self.origin = origin
        known = self._served
        served = Served(
            known.generation_id or _text(origin[0]),
            _text(origin[1]) or known.model,
            _text(origin[2]) or known.provider,
        )
        if served != self._emitted:
            self._served = self._emitted = served
            out.append(served)

    def _finish(self, choice: JsonObject, out: list[StreamPart]) -> None:
        reason, native = choice.get("finish_reason"), choice.get("native_finish_reason")
        if reason is None and native is None:  # most chunks
            return
        word, native = _stop_word(reason), _stop_word(native)
        if word is None and native is None:
            return
        self._finished = later_finish(self._finished, word, native)
        out.append(self._finished)
        self.has_outcome = True

    def _delta(self, delta: JsonObject, out: list[StreamPart]) -> None:
        details = delta.get("reasoning_details")
        if details or delta.get("reasoning") or delta.get("reasoning_content"):
            self._reasoning(delta, out, details)
        content = delta.get("content")
        if content:
            self._content(content, out)
        refusal = delta.get("refusal")
        if refusal and isinstance(refusal, str):
            out.append(RefusalDelta(refusal))
        if delta.get("annotations") or delta.get("images"):
            self._attachments.decode(delta, out)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for position, call in enumerate(calls):
                if isinstance(call, dict):
                    out.append(_call(call, position if len(calls) > 1 else None))
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):  # the predecessor of tool calls, still sent by old proxies (quirk A19)
            out.append(_call({"index": 0, "function": legacy}))

    def _content(self, content: JsonValue, out: list[StreamPart]) -> None:
        """Append text, or a list of parts: Mistral's magistral sends thinking and text, image models images."""
        if isinstance(content, str):
            out.append(TextDelta(content))
            return
        for part in content if isinstance(content, list) else ():
            if not isinstance(part, dict):
                continue
            if part.get("type") == "image_url":
                self._attachments.image(part, out)
            elif part.get("type") == "thinking":
                if text := _plain(part.get("thinking")):
                    out.append(ReasoningDelta(text))
            elif text := _plain(part.get("text")):
                out.append(TextDelta(text))

    def _reasoning(self, delta: JsonObject, out: list[StreamPart], sent: JsonValue) -> None:
        """Append one of the fields that hold the same text (quirk B10); store the details for later requests."""
        details = [d for d in sent if isinstance(d, dict)] if isinstance(sent, list) else []
        for name in ("reasoning", "reasoning_content"):
            text = _plain(delta.get(name))
            if text:
                out.append(ReasoningDelta(text, name))
                break
        else:
            text = "".join(_plain(d.get(key)) for d in details for key in ("text", "summary"))
            if text:
                out.append(ReasoningDelta(text))
            elif any(d.get("data") for d in details):
                out.append(HiddenReasoning())
        for detail in details:
            self._details.merge(detail)


def parts_of_body(body: bytes, served: Served | None = None) -> list[StreamPart]:
    """Decode one whole answer (`stream: false`) like a stream; raises ValueError if it is not a JSON object."""
    value = loads(body)
    if not isinstance(value, dict):
        raise ValueError("the body is not a JSON object")  # noqa: TRY004 - the text is wrong, not its type
    out: list[StreamPart] = []
    decoder = ChunkDecoder(served)
    decoder.chunk(value, out)
    decoder.close(out)
    out.append(EndOfStream())
    return out


def _choice_zero(chunk: JsonObject) -> JsonObject | None:
    """Return choice 0; chunks without choices are filter results, usage or errors (quirk E9)."""
    choices = chunk.get("choices")
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict) and not choice.get("index"):
                return choice
    return None


def _call(call: JsonObject, position: int | None = None) -> CallDelta:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    index = call.get("index")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str):  # Ollama and some proxies send the object itself
        arguments = dumps(arguments).decode()
    return CallDelta(
        index=index if isinstance(index, int) and not isinstance(index, bool) else None,
        id=_id(call.get("id")),
        name=_text(function.get("name")),
        arguments=arguments if isinstance(arguments, str) else None,
        position=position,
    )


def _add_logprobs(logprobs: JsonValue, out: list[StreamPart]) -> None:
    """Append the log probabilities of the text of a chunk; those of a call's arguments have no place in an answer."""
    if isinstance(logprobs, dict):
        text, refusal = (
            tuple(tokens) if isinstance(tokens := logprobs.get(name), list) else () for name in ("content", "refusal")
        )
        if text or refusal:
            out.append(TokenLogprobs(text, refusal))


def _id(value: JsonValue) -> str | None:
    """Return an id or a name; one provider sends an integer (quirk A4), and an empty one counts as absent."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(value)


def _stop_word(value: JsonValue) -> str | None:
    """Return a finish reason; an empty one counts as absent (quirk A12).

    Some providers send the number of an enum. Any other JSON counts as an unknown reason, under its text: if it counted
    as absent, tools would run after an unreadable refusal.
    """
    if value is None or isinstance(value, str):
        return value or None
    return dumps(value)[:_MOST_STOP_WORD].decode("utf-8", "replace")


def _usage(chunk: JsonObject, out: list[StreamPart]) -> None:
    usage = chunk.get("usage")
    if not usage:
        groq = chunk.get("x_groq")  # older Groq streams
        usage = groq.get("usage") if isinstance(groq, dict) else None
    if isinstance(usage, dict) and usage:
        out.append(UsageReport(_usage_of(usage), usage))


def _usage_of(raw: JsonObject) -> Usage:
    return Usage(
        input=_count(raw, "prompt_tokens"),
        output=_count(raw, "completion_tokens"),
        reasoning=_count(raw.get("completion_tokens_details"), "reasoning_tokens"),
        cached=_count(raw.get("prompt_tokens_details"), "cached_tokens"),
        cost=_cost(raw.get("cost")),
    )


def _cost(value: JsonValue) -> float | None:
    """Return a price in USD; an impossible one counts as absent."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST:
        return float(value)
    return None


def _count(value: JsonValue | Mapping[str, JsonValue], key: str) -> int:
    number = value.get(key) if isinstance(value, dict) else None
    return number if type(number) is int and 0 <= number < _MOST else 0


def _pieces(delta: PlainDelta) -> list[StreamPart]:
    """Return the parts of a plain chunk."""
    text: list[StreamPart] = [TextDelta(delta.content)] if delta.content else []
    if delta.tool_calls is None:
        return text
    call = delta.tool_calls.first
    return [*text, CallDelta(call.index, arguments=call.function.arguments)]


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def _plain(value: JsonValue) -> str:
    """Return text that may be a string, an object that contains it, or a list of these."""
    match value:
        case str():
            return value
        case list():
            return "".join(_plain(item) for item in value)
        case dict():
            return _plain(value.get("text") or value.get("content") or value.get("thinking"))
        case _:
            return ""
