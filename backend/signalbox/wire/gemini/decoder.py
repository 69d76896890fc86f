"""Decodes chunks and whole bodies of Gemini's API to parts."""

from msgspec.structs import replace

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import JsonObject, JsonValue, Native
from signalbox.core.parts import (
    CallDelta,
    EndOfStream,
    Fault,
    Finish,
    FinishReason,
    NativeTurn,
    ReasoningDelta,
    Served,
    StreamPart,
    TextDelta,
)
from signalbox.wire.finish_reasons import later_finish
from signalbox.wire.gemini.errors import error_of_value
from signalbox.wire.gemini.grounding import cite
from signalbox.wire.gemini.logprobs import logprobs_of
from signalbox.wire.gemini.partial_arguments import PartialArguments
from signalbox.wire.gemini.text_template import TextRun, TextTemplate, usage_in
from signalbox.wire.gemini.usage import report_of
from signalbox.wire.gemini.values import object_in, objects_in, text_in
from signalbox.wire.http_errors import redact
from signalbox.wire.json_text import dumps, loads
from signalbox.wire.openrouter.attachments import Attachments
from signalbox.wire.stream_decoder import StreamDecoder

NAME = "gemini"
# Every chunk repeats the usage. Between the first and the last one, one in so many is reported.
_USAGE_EVERY = 16
# A response with a piece of text has this part, and perhaps the usage.
_MOST_PLAIN = 2
_STREAMED = ("partialArgs", "willContinue")
_NO_SIGNATURE = "MISSING_THOUGHT_SIGNATURE"
# Gemini documents these words: the answer is in a language that is not supported, and the model called tools too often
# in a row.
_OWN_REASONS = {"LANGUAGE": FinishReason.WITHHELD, "TOO_MANY_TOOL_CALLS": FinishReason.FAILED}


class GeminiStreamDecoder(StreamDecoder):
    """Decodes `data:` frames, each of them a response with the next parts. Nothing marks the end of a stream."""

    def __init__(self, served: Served | None = None) -> None:
        """Begin; `served` is what the response headers contain."""
        super().__init__()
        self._turn = TurnDecoder(served)
        self._template = TextTemplate()

    def feed(self, data: bytes) -> list[StreamPart]:
        """Return the parts that this network read completes; raises UpstreamError for a frame without an end."""
        out: list[StreamPart] = []
        start, is_large = 0, False
        while start < len(data):
            is_whole = self._sse.is_between_frames and not self.has_ended
            run = self._template.run_at(data, start) if is_whole else None
            if run is not None:
                self._turn.plain_texts(run, out)
                start += run.size
                continue
            frame = self._template.frame_at(data, start)
            start += len(frame)
            parts = super().feed(frame)
            is_large = is_large or self.is_large
            kinds = {*map(type, parts)}
            if Served in kinds:
                self._template.forget()  # its frames named another origin
            if is_whole and TextDelta in kinds and len(parts) <= _MOST_PLAIN:
                self._template.learn(frame)
            out += parts
        self.is_large = is_large
        return out

    def decode(self, event: str | None, data: bytes, out: list[StreamPart]) -> None:
        """Append the parts of one response."""
        if data == b"[DONE]":  # added by proxies
            self._turn.close(out)
            out.append(EndOfStream())
            self.has_outcome = self.has_ended = True
            return
        value = self.value_of(data, out)
        for response in value if isinstance(value, list) else [value]:
            if isinstance(response, dict):
                self._turn.response(response, out)
        self.has_outcome = self.has_outcome or self._turn.has_outcome

    def close(self) -> list[StreamPart]:
        """Return the parts that were still open when the bytes ended, and the native turn."""
        out = super().close()
        self._turn.close(out)
        return out

    def described(self) -> JsonObject:
        """Return what the parts do not contain."""
        return self._turn.described()


def parts_of_body(body: bytes, served: Served | None = None) -> list[StreamPart]:
    """Return the parts of a whole answer: one response, or the list that a stream without `alt=sse` is.

    Raises ValueError for any other body.
    """
    value = loads(body)
    responses = value if isinstance(value, list) else [value]
    objects = [response for response in responses if isinstance(response, dict)]
    if not objects or len(objects) < len(responses):
        raise ValueError("the body is not a JSON object")
    turn, out = TurnDecoder(served), list[StreamPart]()
    for response in objects:
        turn.response(response, out)
    turn.close(out)
    return [*out, EndOfStream()]


class _OpenCall:
    """A call whose arguments are streamed: the part that began it, and its arguments so far."""

    def __init__(self, part: JsonObject, call: JsonObject) -> None:
        self.part = part
        self.call = call
        self.arguments = PartialArguments()


class TurnDecoder:
    """Decodes the responses of one turn. `has_outcome`: a finish reason or an error has arrived."""

    def __init__(self, served: Served | None = None) -> None:
        self.has_outcome = False
        self._served = served or Served()
        self._emitted: Served | None = None
        self._items: list[JsonObject] = []
        self._text: list[str] = []
        self._attachments = Attachments()
        self._calls = 0
        self._open: _OpenCall | None = None
        self._runs_code = False
        self._finished = Finish()
        self._usage: JsonObject | bytes | None = None
        self._responses = 0
        self._feedback: JsonObject | None = None
        self._grounding_chunks = 0

    def response(self, response: JsonObject, out: list[StreamPart]) -> None:
        """Append the parts of one response: origin, content, finish reason, usage, error, in this order."""
        self._serve(response, out)
        for candidate in objects_in(response, "candidates"):
            if candidate.get("index") in (0, None):  # the index 0 is left out by Vertex; others are not requested
                self._candidate(candidate, out)
        usage = object_in(response, "usageMetadata")
        if usage:
            self._usage = usage
        self._end_response(out)
        if error := response.get("error"):
            self._fail(error_of_value(error), error, out)
        if feedback := object_in(response, "promptFeedback"):
            self._prompt_feedback(feedback, out)

    def _prompt_feedback(self, feedback: JsonObject, out: list[StreamPart]) -> None:
        self._feedback = feedback
        if word := text_in(feedback, "blockReason"):
            self._fail(_blocked(word, text_in(feedback, "blockReasonMessage")), {"promptFeedback": feedback}, out)

    def plain_texts(self, run: TextRun, out: list[StreamPart]) -> None:
        """Append the texts of responses that have nothing else; a usage is parsed only if it is reported."""
        texts = run.texts
        if len(texts) == 1:  # a slow stream
            self._items.append({"text": texts[0]})
            self._text.append(texts[0])
            out.append(TextDelta(texts[0]))
            self._usage = run.usage_at(0)
            self._end_response(out)
            return
        self._items.extend({"text": text} for text in texts)
        self._text += texts
        deltas = [*map(TextDelta, texts)]
        at = 0
        while at < len(deltas):
            # Up to the next response whose usage is reported.
            end = at + 1 if self._finished.word is not None else at + 1 + -self._responses % _USAGE_EVERY
            out += deltas[at:end]
            end = min(end, len(deltas))
            self._responses += end - at - 1
            self._usage = run.usage_at(end - 1)
            self._end_response(out)
            at = end

    def close(self, out: list[StreamPart]) -> None:
        """Append the last usage and the native turn, once. A call that is still open was cut."""
        self._end_call(out, is_whole=False)
        self._report_usage(out)
        if self._items:
            out.append(NativeTurn(Native(NAME, tuple(self._items))))
            self._items = []

    def described(self) -> JsonObject:
        """Return fields for `signalbox decode`."""
        fields: JsonObject = {
            "prompt_feedback": self._feedback,
            "grounding_chunks": self._grounding_chunks,
            "model_in_stream": [self._served.model] if self._served.model else [],
        }
        return fields

    def _fail(self, error: UpstreamError, raw: JsonValue, out: list[StreamPart]) -> None:
        out.append(Fault(error, raw))
        self.has_outcome = True

    def _serve(self, response: JsonObject, out: list[StreamPart]) -> None:
        known = self._served
        served = Served(
            known.generation_id or text_in(response, "responseId") or None,
            text_in(response, "modelVersion") or known.model,
            known.provider,
        )
        if served != self._emitted and served != Served():
            self._served = self._emitted = served
            out.append(served)

    def _end_response(self, out: list[StreamPart]) -> None:
        """Report the usage of some responses, and of all after a finish reason."""
        if self._finished.word is not None or self._responses % _USAGE_EVERY == 0:
            self._report_usage(out)
        self._responses += 1

    def _report_usage(self, out: list[StreamPart]) -> None:
        usage, self._usage = self._usage, None
        if isinstance(usage, bytes):
            usage = usage_in(usage)
        if usage is not None:
            out.append(report_of(usage))

    def _candidate(self, candidate: JsonObject, out: list[StreamPart]) -> None:
        if "logprobsResult" in candidate and (logprobs := logprobs_of(candidate)) is not None:
            out.append(logprobs)
        for part in objects_in(object_in(candidate, "content"), "parts"):
            self._part(part, out)
        if candidate.get("groundingMetadata") or candidate.get("citationMetadata"):
            self._text = ["".join(self._text)]
            self._grounding_chunks += len(objects_in(object_in(candidate, "groundingMetadata"), "groundingChunks"))
            cite(candidate, self._text[0], self._attachments, out)
        if word := text_in(candidate, "finishReason"):
            self._finish(word, candidate, out)

    def _part(self, part: JsonObject, out: list[StreamPart]) -> None:
        call = part.get("functionCall")
        if isinstance(call, dict):
            self._call(part, call, out)
            return
        self._items.append(part)
        is_thought = part.get("thought") is True
        if text := text_in(part, "text"):
            if is_thought:
                out.append(ReasoningDelta(text))
            else:
                self._text.append(text)
                out.append(TextDelta(text))
        elif "inlineData" in part and not is_thought:  # image models also think in drafts
            blob = object_in(part, "inlineData")
            url = f"data:{text_in(blob, 'mimeType')};base64,{text_in(blob, 'data')}"
            self._attachments.image(url, out)
        elif "executableCode" in part or "codeExecutionResult" in part:
            self._runs_code = "executableCode" in part

    def _call(self, part: JsonObject, call: JsonObject, out: list[StreamPart]) -> None:
        """Append a whole call, or collect the pieces of a streamed one; a piece has no name."""
        name = text_in(call, "name")
        if name:
            self._end_call(out)
            if not any(key in call for key in _STREAMED):
                arguments = call.get("args")
                self._emit_call(part, call, "{}" if arguments is None else dumps(arguments).decode(), out)
                return
            self._open = _OpenCall(part, call)
        streamed = self._open
        if streamed is None:
            return  # a call without a name is not executed, and the API rejects it in a request (quirk A17)
        for piece in objects_in(call, "partialArgs"):
            streamed.arguments.add(piece)
        if "thoughtSignature" in part and "thoughtSignature" not in streamed.part:
            streamed.part = {**streamed.part, "thoughtSignature": part["thoughtSignature"]}
        if call.get("willContinue") is not True:
            self._end_call(out)

    def _end_call(self, out: list[StreamPart], *, is_whole: bool = True) -> None:
        """Append the streamed call. Text of a cut one stays incomplete, so that it is not executed."""
        streamed, self._open = self._open, None
        if streamed is None:
            return
        arguments = {**object_in(streamed.call, "args"), **streamed.arguments.result()}
        call = {key: value for key, value in streamed.call.items() if key not in (*_STREAMED, "args")}
        part: JsonObject = {**streamed.part, "functionCall": {**call, "args": arguments}}
        text = dumps(arguments).decode()
        self._emit_call(part, call, text if is_whole and streamed.arguments.is_sound else text[:-1], out)

    def _emit_call(self, part: JsonObject, call: JsonObject, arguments: str, out: list[StreamPart]) -> None:
        self._items.append(part)
        out.append(CallDelta(self._calls, text_in(call, "id") or None, text_in(call, "name"), arguments))
        self._calls += 1

    def _finish(self, word: str, candidate: JsonObject, out: list[StreamPart]) -> None:
        """Append the finish reason.

        After code, the API may send STOP, then the result of the code and more text, then STOP again (recorded:
        rig, `two_terminal_stream`). Such a first STOP is not the outcome: what follows may take its time.
        """
        finish = later_finish(self._finished, word, None)
        self._finished = replace(finish, reason=_OWN_REASONS.get(finish.word or "", finish.reason))
        self._end_call(out, is_whole=self._finished.reason is FinishReason.STOP)
        out.append(self._finished)
        if word == _NO_SIGNATURE:
            message = text_in(candidate, "finishMessage") or "A thought signature is missing."
            error = UpstreamError(Code.UPSTREAM_SIGNATURE, redact(message))
            self._fail(error, {"finishReason": word, "finishMessage": message}, out)
        if not (self._runs_code and self._finished.reason is FinishReason.STOP):
            self.has_outcome = True


def _blocked(word: str, message: str) -> UpstreamError:
    """Return the error of a prompt that was blocked, so that no model has read it."""
    sentence = f"Google blocked the prompt before the model could answer ({redact(word[:64])})."
    return UpstreamError(Code.CONTENT_FILTER, f"{sentence} {redact(message[:300])}".rstrip())
