"""OpenAI's chat completions: a run as a stream of `chat.completion.chunk` objects, with OpenRouter's extra fields.

Calls of this server's tools are comments of the stream: an agent that saw them in `tool_calls` would execute them.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from msgspec import UNSET, json

from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Call,
    Content,
    Done,
    Logprobs,
    Reasoning,
    Stamped,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.handed_calls import handed_id
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.encoders.chat_citations import CitedSources
from signalbox.encoders.chat_completions_error import stream_error_of
from signalbox.encoders.chat_parts import (
    ending_of,
    finish_reason_of,
    image_of,
    joined_logprobs,
    logprobs_of,
    reasoning_details_of,
    usage_of,
    warnings_of,
)
from signalbox.wire.json_text import dumps

_encode = json.Encoder().encode
_END = b"data: [DONE]\n\n"
_AFTER_DELTA = b',"logprobs":null,"finish_reason":null}]}\n\n'


def _template(delta: JsonObject) -> bytes:
    """Write a delta once: most chunks differ only in their text."""
    return dumps(delta).replace(b'"%b"', b"%b").replace(b'"%d"', b"%d")


_REASONING = _template({"reasoning": "%b", "reasoning_content": "%b", "reasoning_details": reasoning_details_of("%b")})
_ARGUMENTS = _template({"tool_calls": [{"index": "%d", "function": {"arguments": "%b"}}]})


class ChatCompletionsEncoder:
    """Encodes a run's events as chunks. The first one has the role; ids, time and model are the same in all of them.

    With `include_usage` (of `stream_options`), the usage is an extra chunk without choices; otherwise it is in the last
    choice's chunk.
    """

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    # No proxy in between may collect, compress or cache (quirk E7).
    headers: ClassVar[Mapping[str, str]] = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
    ping: ClassVar[bytes] = b": ping\n\n"
    starts_anywhere: ClassVar[bool] = False  # the first chunk has the role, and calls are numbered

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        self._run_id = run.id
        self._has_usage_chunk = run.echo.get("include_usage") is True
        shared: JsonObject = {
            "id": run.id,
            "object": "chat.completion.chunk",
            "created": int(run.started),
            "model": run.model,
        }
        self._head = b"data: " + dumps(shared | {"system_fingerprint": None})[:-1]
        self._before_delta = self._head + b',"choices":[{"index":0,"delta":'
        self._before_text = self._before_delta + b'{"content":'
        self._has_begun = False
        self._may_be_plain = False  # the role has been sent, and no log probabilities wait for their text
        self._logprobs: Logprobs | None = None
        self._cited = CitedSources()
        self._calls = _ClientCalls(run.id)
        self._warnings: list[Warning] = []

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the chunks of a batch."""
        frames: list[bytes] = []
        for stamped in batch:
            event = stamped.event
            if type(event) is Content and self._may_be_plain and _is_plain(event):  # nearly all
                self._cited.add_text(event.content)
                frames += (self._before_text, _encode(event.content), b"}", _AFTER_DELTA)
            elif type(event) is Reasoning and event.content:
                frames.append(self._delta_chunk(_REASONING % ((_encode(event.content),) * 3)))
            elif type(event) is ArgumentsDelta:
                frames.append(self._delta_chunk(self._calls.delta_of(event)))
            else:
                frames += self._frames(event)
        return b"".join(frames)

    def _frames(self, event: AnyEvent) -> Iterator[bytes]:
        match event:
            case Content():
                if not self._has_begun:
                    yield self._chunk({"content": ""})
                if event.content or event.images is not UNSET:
                    yield self._chunk(self._delta_of(event), self._after_text())
                if event.sources is not UNSET:
                    yield self._chunk({"annotations": self._cited.annotations_of(event.sources)})
            case ToolCalls(calls):
                self._cited.end_step()
                self._calls.remember(calls)
                yield from (b": tool_call %b\n\n" % _in_comment(call.name) for call in calls)
            case ToolExecuting():
                yield b": tool_executing %b\n\n" % _in_comment(event.name)
            case ToolResult():
                self._cited.add_result(event)
                yield b": tool_result %b\n\n" % _in_comment(event.name)
            case Warning():
                self._warnings.append(event)
                code = event.code if event.code is not UNSET else "WARNING"
                yield b": warning %b\n\n" % _in_comment(code)
            case Logprobs():
                self._logprobs = event if self._logprobs is None else joined_logprobs([self._logprobs, event])
                self._may_be_plain = False
            case Done():
                yield from self._ending(event)
            case _:
                yield b": ping\n\n"

    def _delta_of(self, event: Content) -> JsonObject:
        if event.images is not UNSET:
            return {"content": event.content, "images": [image_of(image.url) for image in event.images]}
        if event.refusal is not UNSET:
            return {"refusal": event.content}
        self._cited.add_text(event.content)
        return {"content": event.content}

    def _after_text(self) -> bytes:
        """Return what follows the delta of a text: its log probabilities, if there are any."""
        if self._logprobs is None:
            return _AFTER_DELTA
        logprobs, self._logprobs = dumps(logprobs_of(self._logprobs)), None
        self._may_be_plain = self._has_begun
        return _AFTER_DELTA.replace(b"null", logprobs, 1)

    def _chunk(self, delta: JsonObject, after: bytes = _AFTER_DELTA) -> bytes:
        return self._delta_chunk(dumps(delta), after)

    def _delta_chunk(self, delta: bytes, after: bytes = _AFTER_DELTA) -> bytes:
        if not self._has_begun:
            self._has_begun = True
            self._may_be_plain = self._logprobs is None
            delta = b'{"role":"assistant",' + delta[1:]
        return self._before_delta + delta + after

    def _frame(self, fields: JsonObject) -> bytes:
        return b"%b,%b\n\n" % (self._head, dumps(fields)[1:])

    def _ending(self, done: Done) -> Iterator[bytes]:
        """Write the calls that are the client's, the sources that the text cites, why the run ended, and the usage."""
        if self._logprobs is not None:
            yield self._chunk({"content": ""}, self._after_text())
        if cited := self._cited.annotations():
            yield self._chunk({"annotations": cited})
        for call in self._calls.unsent(done):
            yield self._chunk({"tool_calls": [call]})
        provider: JsonObject = {} if done.provider is UNSET else {"provider": done.provider}
        usage = usage_of(done)
        reason = finish_reason_of(done)
        if reason is None:
            failed = {**provider, **stream_error_of(done)}
            yield self._frame(failed if usage is None else {**failed, "usage": usage})
            yield _END
            return
        if not self._has_begun:
            yield self._chunk({"content": ""})
        choice: JsonObject = {"index": 0, "delta": {}, "logprobs": None, **ending_of(done)}
        last: JsonObject = {"choices": [choice], **provider, **warnings_of(self._warnings)}
        if self._has_usage_chunk:
            yield self._frame(last)
            yield self._frame({"choices": [], **provider, "usage": usage})
        else:
            yield self._frame(last if usage is None else {**last, "usage": usage})
        yield _END


class _ClientCalls:
    """The calls that are handed to the client: numbered in the order in which it sees them."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._index: dict[str, int] = {}
        self._arguments: dict[str, tuple[str, str]] = {}

    def remember(self, calls: list[Call]) -> None:
        """Remember the calls of a step: `done` says which of them are the client's."""
        self._arguments = {call.id: (call.name, call.arguments) for call in calls}

    def delta_of(self, event: ArgumentsDelta) -> bytes:
        """Return the delta with a piece of a call's arguments; the first piece has the call's id and name."""
        known = self._index.get(event.id)
        if known is not None:
            return _ARGUMENTS % (known, _encode(event.arguments))
        return dumps({"tool_calls": [self._begun(event.id, event.name, event.arguments)]})

    def _begun(self, call_id: str, name: str, arguments: str) -> JsonObject:
        index = self._index[call_id] = len(self._index)
        function: JsonObject = {"name": name, "arguments": arguments}
        return {"index": index, "id": handed_id(self._run_id, call_id), "type": "function", "function": function}

    def unsent(self, done: Done) -> list[JsonObject]:
        """Return the handed calls whose arguments were not streamed."""
        handed = done.handed if done.handed is not UNSET else []
        return [self._begun(one, *self._arguments[one]) for one in handed if one not in self._index]


def _is_plain(event: Content) -> bool:
    return event.sources is UNSET and event.refusal is UNSET and event.images is UNSET


def _in_comment(text: str) -> bytes:
    """Write a name into a comment: a line break would end it."""
    return "".join(filter(str.isprintable, text)).encode()
