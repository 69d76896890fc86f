"""The Vercel AI SDK's UI message stream, version 1: a run as chunks from which `useChat` builds one message.

The client throws at an unknown chunk, at a delta without a start, and at an output of an unknown call. It reads nothing
behind an `error`, so everything that must arrive precedes it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, cast

import orjson
from msgspec import UNSET, json

from signalbox.core.codes import Code
from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Content,
    Done,
    Image,
    Reasoning,
    Stamped,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.handed_calls import handed_id, handle_in
from signalbox.core.messages import JsonObject, JsonValue, ToolMessage
from signalbox.core.records import RunRecord
from signalbox.encoders.ai_sdk_calls import UiCalls
from signalbox.encoders.ai_sdk_error import error_text
from signalbox.encoders.chat_citations import CitedSources
from signalbox.encoders.encoder import reached_cost_limit
from signalbox.wire.json_text import dumps

_encode = json.Encoder().encode
_END = b"data: [DONE]\n\n"
# Endings that the client gets as an error. Of an answer that was cut off by a limit, it has all there is.
_ERRORS = frozenset({"error", "interrupted", "content_filter"})
_FINISH_REASONS = {
    "complete": "stop", "length": "length", "cancelled": "other", "content_filter": "content-filter",
}  # fmt: skip


class AiSdkEncoder:
    """Encodes a run's events as chunks. `message_id` of the echo is the message that the run continues.

    The client may not know types that were added after version 5 of the SDK, so they are not used.
    """

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    # No proxy in between may collect, compress or cache (quirk E7).
    headers: ClassVar[Mapping[str, str]] = {
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
    }
    ping: ClassVar[bytes] = b": ping\n\n"
    starts_anywhere: ClassVar[bool] = False  # parts are opened before they are continued

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        self._run = run
        self._has_begun = False
        self._step: int | None = None
        self._step_has_calls = False
        self._parts = 0
        self._open: tuple[str, str] | None = None  # the part that is streamed: its type and id
        self._before_delta = b""
        self._is_in_text = False  # the next text continues the part
        self._cited = CitedSources()
        self._sources: set[int] = set()
        client_tools = cast("list[str]", run.echo.get("client_tools", []))
        self._calls = UiCalls(run.id, frozenset(client_tools))

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the chunks of a batch."""
        frames: list[bytes] = []
        for stamped in batch:
            event = stamped.event
            if type(event) is Content and self._is_in_text and event.sources is UNSET and event.images is UNSET:
                self._cited.add_text(event.content)  # nearly all
                frames.append(b"%b%b}\n\n" % (self._before_delta, _encode(event.content)))
            elif type(event) is Reasoning and self._continues_reasoning(event):
                frames.append(b"%b%b}\n\n" % (self._before_delta, _encode(event.content)))
            else:
                frames += map(_frame, self._chunks(event))
                if type(event) is Done:
                    frames.append(_END)
        return b"".join(frames)

    def encode_leg(self, events: list[Stamped]) -> bytes:
        """Return a whole run that another one continues: its chunks without the ending of the message."""
        *before, last = events
        frames = [self.encode(before)]
        if isinstance(last.event, Done):
            begin = () if self._has_begun else self._begin()
            frames += map(_frame, [*begin, *self._end_of_run(last.event, are_executed=True)])
        return b"".join(frames)

    def _continues_reasoning(self, event: Reasoning) -> bool:
        return self._open is not None and self._open[0] == "reasoning" and event.step == self._step

    def _chunks(self, event: AnyEvent) -> Iterator[JsonObject]:
        if not self._has_begun:
            yield from self._begin()
        match event:
            case Content():
                yield from self._content(event)
            case Reasoning():
                yield from self._reasoning(event)
            case ArgumentsDelta():
                yield from self._in_step(event.step)
                yield from self._close_part()
                yield from self._calls.delta(event)
            case ToolCalls():
                self._cited.end_step()
                yield from self._in_step(event.step)
                yield from self._close_part()
                self._step_has_calls = True
                yield from self._calls.announce(event)
            case ToolExecuting():
                status: JsonObject = {"toolCallId": self._calls.id_of(event.id, event.name), "status": "running"}
                yield {"type": "data-tool-status", "data": status, "transient": True}
            case ToolResult():
                self._cited.add_result(event)
                yield from self._calls.result(event)
            case Warning():
                data: JsonObject = {"message": event.message}
                yield {"type": "data-warning", "data": data if event.code is UNSET else {**data, "code": event.code}}
            case Done():
                yield from self._ending(event)
            case _:
                pass  # the protocol has no chunk for it

    def _begin(self) -> Iterator[JsonObject]:
        self._has_begun = True
        message_id = self._run.echo.get("message_id") or self._run.id
        metadata: JsonObject = {"runs": {self._run.id: {"model": self._run.model}}}
        yield {"type": "start", "messageId": message_id, "messageMetadata": metadata}
        yield {"type": "start-step"}

    # --- steps and parts ----------------------------------------------------------------------------------------

    def _in_step(self, step: object) -> Iterator[JsonObject]:
        """Begin another step if the event belongs to one. Text has no step: it follows the calls of the one before."""
        number = step if isinstance(step, int) else None
        is_later = number is not None and self._step is not None and number > self._step
        is_behind_calls = number is None and self._step_has_calls and not self._calls.are_open
        if is_later or is_behind_calls:
            yield from self._close_part()
            yield from self._calls.abandon()
            yield {"type": "finish-step"}
            yield {"type": "start-step"}
            self._step_has_calls = False
        self._step = self._step if number is None else number

    def _open_part(self, kind: str, **fields: JsonObject) -> Iterator[JsonObject]:
        if self._open is not None and self._open[0] == kind:
            return
        yield from self._close_part()
        self._parts += 1
        part_id = f"{self._run.id[:8]}-{self._parts}"
        self._open, self._is_in_text = (kind, part_id), kind == "text" and not self._step_has_calls
        self._before_delta = b'data: {"type":"%b-delta","id":"%b","delta":' % (kind.encode(), part_id.encode())
        yield {"type": f"{kind}-start", "id": part_id, **fields}

    def _close_part(self) -> Iterator[JsonObject]:
        if self._open is not None:
            kind, part_id = self._open
            self._open, self._is_in_text = None, False
            yield {"type": f"{kind}-end", "id": part_id}

    def _delta(self, text: str) -> JsonObject:
        assert self._open is not None
        kind, part_id = self._open
        return {"type": f"{kind}-delta", "id": part_id, "delta": text}

    # --- events -------------------------------------------------------------------------------------------------

    def _content(self, event: Content) -> Iterator[JsonObject]:
        yield from self._in_step(event.step)
        if event.content:
            self._cited.add_text(event.content)
            yield from self._open_part("text")
            yield self._delta(event.content)
        for image in event.images or ():
            yield {"type": "file", "url": image.url, "mediaType": _media_type(image)}
        for source in event.sources or ():
            yield from self._source(source.n, source.url, source.title)

    def _reasoning(self, event: Reasoning) -> Iterator[JsonObject]:
        yield from self._in_step(event.step)
        if event.hidden is not UNSET:
            yield from self._open_part("reasoning", providerMetadata={"signalbox": {"hidden": True}})
        elif event.content:
            yield from self._open_part("reasoning")
            yield self._delta(event.content)

    def _source(self, n: int, url: str, title: str) -> Iterator[JsonObject]:
        if n not in self._sources:
            self._sources.add(n)
            yield {"type": "source-url", "sourceId": str(n), "url": url, "title": title}

    # --- the end ------------------------------------------------------------------------------------------------

    def _end_of_run(self, done: Done, *, are_executed: bool = False) -> Iterator[JsonObject]:
        """Close everything that is open, and add the sources that the text cites, the usage and the cost.

        `are_executed`: the client has executed the calls that were handed over, and must not execute them again.
        """
        yield from self._close_part()
        yield from self._calls.abandon()
        yield from self._calls.hand_over([] if done.handed is UNSET else done.handed, are_executed=are_executed)
        for source in self._cited.cited:
            yield from self._source(*source)
        yield {"type": "finish-step"}
        yield {"type": "message-metadata", "messageMetadata": {"runs": {self._run.id: _metadata_of(done)}}}

    def _ending(self, done: Done) -> Iterator[JsonObject]:
        yield from self._end_of_run(done)
        if done.status == "cancelled":
            yield {"type": "abort", "reason": "The answer was stopped."}
        is_limit = reached_cost_limit(done)
        if done.status in _ERRORS and not is_limit:
            code = Code(done.code) if done.code is not UNSET else Code.INTERNAL
            yield {"type": "error", "errorText": error_text(code, done.error if done.error is not UNSET else "")}
        reason = "length" if is_limit else _FINISH_REASONS.get(done.status, "error")
        if done.status == "complete" and done.handed is not UNSET:
            reason = "tool-calls"
        yield {"type": "finish", "finishReason": reason}


def outputs_of(run_id: str, results: Sequence[ToolMessage]) -> bytes:
    """Return the outputs of a run's handed calls, for a client that rebuilds its message."""
    return b"".join(
        _frame(
            {
                "type": "tool-output-available",
                "providerExecuted": True,
                "toolCallId": result.call_id if handle_in(result.call_id) else handed_id(run_id, result.call_id),
                "output": _value_in(result.content),
            }
        )
        for result in results
    )


def _value_in(content: str) -> JsonValue:
    """Return the output that the client sent: text, or any other JSON as its text."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return content


def _frame(chunk: JsonObject) -> bytes:
    return b"data: %b\n\n" % dumps(chunk)


def _media_type(image: Image) -> str:
    """Return the type of an image; of one that is not loaded yet, only that it is one."""
    return image.url[5:].partition(";")[0] if image.url.startswith("data:") else "image/*"


def _metadata_of(done: Done) -> JsonObject:
    """Return how a run ended and what it cost (USD)."""
    found: JsonObject = {"status": done.status}
    named = {"code": "code", "model": "model", "provider": "provider", "steps": "steps", "cost": "cost"}
    named |= {"duration_ms": "durationMs", "first_token_ms": "firstTokenMs", "cost_estimated": "costEstimated"}
    found |= {name: value for field, name in named.items() if (value := getattr(done, field)) is not UNSET}
    if done.usage is not UNSET:
        usage = done.usage
        found["usage"] = {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "totalTokens": usage.input + usage.output,
            "reasoningTokens": 0 if usage.reasoning is UNSET else usage.reasoning,
            "cachedInputTokens": 0 if usage.cached is UNSET else usage.cached,
        }
    return found
