"""AG-UI 1.0: a run as typed events, from which the client builds messages and state.

The client ends a run with an exception at `[DONE]`, at a `null` in place of an absent field, at CRLF, and at an event
out of order: a piece without its start, or an end of the run while something is open.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar, cast

from msgspec import UNSET, json, to_builtins

from signalbox.core.events import (
    AnyEvent,
    ArgumentsDelta,
    Content,
    Done,
    Reasoning,
    Stamped,
    ToolCalls,
    ToolExecuting,
    ToolResult,
    Warning,
)
from signalbox.core.messages import JsonObject
from signalbox.core.records import RunRecord
from signalbox.encoders.ag_ui_calls import AgUiCalls
from signalbox.encoders.encoder import failure_of, reached_cost_limit
from signalbox.wire.json_text import dumps

PROTOCOL_VERSION = "1.0"
STATE_FIELD = "signalbox"
"""The field of the client's state, and of metadata, with facts about the run."""

_encode = json.Encoder().encode
# The break that a loop emits between the texts of two steps; here they are two messages.
_BREAK = "\n\n"
_FACTS = ("code", "model", "provider", "steps", "cost", "cost_estimated", "duration_ms", "first_token_ms")


class AgUiEncoder:
    """Encodes a run's events. Each model call is a step with its own message.

    The messages of a run have its id, further ones with a number behind a dot, so that the client's next request says
    which answer it follows.
    """

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    # No proxy in between may collect, compress or cache (quirk E7).
    headers: ClassVar[Mapping[str, str]] = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
    ping: ClassVar[bytes] = b": ping\n\n"
    starts_anywhere: ClassVar[bool] = False  # messages are opened before they are continued

    def __init__(self, run: RunRecord, after: int = 0) -> None:
        echo = run.echo
        self._run = run
        self._ids: JsonObject = {
            "threadId": echo.get("thread_id") or run.conversation_id or run.id,
            "runId": echo.get("run_id") or run.id,
        }
        self._state = echo.get("state")
        # Clients before 1.0 send no version; they end a run with an exception at the outcomes of 1.0.
        self._knows_outcomes = "protocol_version" in echo
        self._calls = AgUiCalls(run.id, frozenset(cast("list[str]", echo.get("client_tools", []))))
        self._has_begun = False
        self._step: int | None = None  # of the open step, if an event named it
        self._steps = 0
        self._is_in_step = False
        self._step_has_calls = False
        self._step_has_text = self._has_text = False
        self._spans = 0
        self._open: str | None = None  # the message that is streamed: text or reasoning
        self._before_delta = b""

    def encode(self, batch: list[Stamped]) -> bytes:
        """Return the frames of a batch."""
        frames: list[bytes] = []
        for stamped in batch:
            event = stamped.event
            if (type(event) is Content or type(event) is Reasoning) and self._continues(event):  # nearly all
                frames.append(b"%b%b}\n\n" % (self._before_delta, _encode(event.content)))
            else:
                frames += [b"data: %b\n\n" % dumps(one) for one in self._events(event)]
        return b"".join(frames)

    def _continues(self, event: Content | Reasoning) -> bool:
        """Whether an event is only another piece of the open message."""
        if not event.content:
            return False
        if isinstance(event, Content):
            is_bare = event.sources is UNSET and event.images is UNSET
            return self._open == "text" and is_bare and event.refusal is UNSET and event.synthetic is UNSET
        return self._open == "reasoning" and event.step == self._step and event.hidden is UNSET

    def _events(self, event: AnyEvent) -> Iterator[JsonObject]:
        if not self._has_begun:
            yield from self._begin()
        match event:
            case Content():
                yield from self._content(event)
            case Reasoning():
                yield from self._reasoning(event)
            case ArgumentsDelta():
                yield from self._in_step(event.step)
                yield from self._close_message()
                yield from self._calls.delta(event, self._message_id)
            case ToolCalls(calls):
                yield from self._in_step(event.step)
                yield from self._close_message()
                self._step_has_calls = True
                yield from self._calls.announce(calls, self._message_id)
            case ToolExecuting():
                yield from self._end_step()
                yield from self._calls.execute(event)
            case ToolResult():
                yield from self._end_step()
                yield from self._calls.result(event)
            case Warning():
                yield _custom("warning", cast(JsonObject, to_builtins(event)), without="type")
            case Done():
                yield from self._ending(event)
            case _:
                pass  # log probabilities

    def _begin(self) -> Iterator[JsonObject]:
        self._has_begun = True
        parent = self._run.echo.get("parent_run_id")
        about: JsonObject = {} if parent is None else {"parentRunId": parent}
        yield {"type": "RUN_STARTED", **self._ids, "protocolVersion": PROTOCOL_VERSION, **about}
        yield from self._state_with({"runId": self._run.id, "status": "running", "model": self._run.model})

    def _state_with(self, facts: JsonObject) -> Iterator[JsonObject]:
        """Set our field of the client's state; a state that is no object stays as it is."""
        if self._state == "empty":
            self._state = "object"
            yield {"type": "STATE_SNAPSHOT", "snapshot": {STATE_FIELD: facts}}
        elif self._state == "object":
            yield {"type": "STATE_DELTA", "delta": [{"op": "add", "path": f"/{STATE_FIELD}", "value": facts}]}

    # --- steps and messages -------------------------------------------------------------------------------------

    @property
    def _message_id(self) -> str:
        """The id of the step's message."""
        return self._run.id if self._steps == 1 else f"{self._run.id}.{self._steps}"

    def _in_step(self, step: object) -> Iterator[JsonObject]:
        """Begin a step, unless the event belongs to the open one. Text has no step: it follows calls, if any."""
        number = step if isinstance(step, int) else None
        is_later = number is not None and self._step is not None and number > self._step
        if is_later or (number is None and self._step_has_calls):
            yield from self._end_step()
        if not self._is_in_step:
            self._is_in_step = True
            self._steps += 1
            self._step_has_calls = self._step_has_text = False
            yield {"type": "STEP_STARTED", "stepName": f"model:{self._steps}"}
        self._step = self._step if number is None else number

    def _end_step(self) -> Iterator[JsonObject]:
        if self._is_in_step:
            yield from self._close_message()
            self._is_in_step = self._step_has_calls = False
            yield {"type": "STEP_FINISHED", "stepName": f"model:{self._steps}"}

    def _open_text(self) -> Iterator[JsonObject]:
        if self._open != "text":
            yield from self._close_message()
            self._open, self._step_has_text, self._has_text = "text", True, True
            self._before_delta = _before_delta("TEXT_MESSAGE_CONTENT", self._message_id)
            yield {"type": "TEXT_MESSAGE_START", "messageId": self._message_id, "role": "assistant"}

    def _open_reasoning(self, **fields: JsonObject) -> Iterator[JsonObject]:
        if self._open != "reasoning":
            yield from self._close_message()
            self._spans += 1
            self._open = "reasoning"
            message_id = self._reasoning_id
            self._before_delta = _before_delta("REASONING_MESSAGE_CONTENT", message_id)
            yield {"type": "REASONING_START", "messageId": message_id}
            yield {"type": "REASONING_MESSAGE_START", "messageId": message_id, "role": "reasoning", **fields}

    @property
    def _reasoning_id(self) -> str:
        return f"{self._run.id}.r{self._spans}"

    def _close_message(self) -> Iterator[JsonObject]:
        if self._open == "text":
            yield {"type": "TEXT_MESSAGE_END", "messageId": self._message_id}
        elif self._open == "reasoning":
            yield {"type": "REASONING_MESSAGE_END", "messageId": self._reasoning_id}
            yield {"type": "REASONING_END", "messageId": self._reasoning_id}
        self._open = None

    # --- events -------------------------------------------------------------------------------------------------

    def _content(self, event: Content) -> Iterator[JsonObject]:
        yield from self._in_step(event.step)
        if event.content and not (event.content == _BREAK and self._has_text and not self._step_has_text):
            yield from self._open_text()
            marks = [name for name in ("refusal", "synthetic") if getattr(event, name) is not UNSET]
            delta: JsonObject = {
                "type": "TEXT_MESSAGE_CONTENT",
                "messageId": self._message_id,
                "delta": event.content,
            }
            yield {**delta, "metadata": {STATE_FIELD: dict.fromkeys(marks, True)}} if marks else delta
        for image in event.images or ():
            yield _custom("image", {"messageId": self._message_id, "url": image.url})
        if event.sources:
            yield _custom("sources", {"messageId": self._message_id, "sources": to_builtins(event.sources)})

    def _reasoning(self, event: Reasoning) -> Iterator[JsonObject]:
        yield from self._in_step(event.step)
        if event.hidden is not UNSET:
            yield from self._open_reasoning(metadata={STATE_FIELD: {"hidden": True}})
        elif event.content:
            yield from self._open_reasoning()
            yield {
                "type": "REASONING_MESSAGE_CONTENT",
                "messageId": self._reasoning_id,
                "delta": event.content,
            }

    # --- the end ------------------------------------------------------------------------------------------------

    def _ending(self, done: Done) -> Iterator[JsonObject]:
        """Close everything that is open, then say how the run ended and what it cost (USD)."""
        yield from self._close_message()
        yield from self._calls.abandon()
        handed = yield from self._calls.hand_over([] if done.handed is UNSET else done.handed)
        yield from self._end_step()
        facts: JsonObject = {"runId": self._run.id, "status": done.status}
        facts |= {name: value for name in _FACTS if (value := getattr(done, name)) is not UNSET}
        yield from self._state_with(facts)
        usage: JsonObject = {} if done.usage is UNSET else {"usage": [_usage_of(done)]}
        about: JsonObject = {**usage, "metadata": {STATE_FIELD: facts}}
        failure = None if self._has_text and reached_cost_limit(done) else failure_of(done)
        if failure is not None:
            yield {"type": "RUN_ERROR", "message": failure.message, "code": failure.code, **about}
            return
        outcome: JsonObject = {"type": "cancelled"} if done.status == "cancelled" else {"type": "success"}
        if handed:
            outcome["pendingToolCallIds"] = [*handed]
        shown: JsonObject = {"outcome": outcome} if self._knows_outcomes else {}
        yield {"type": "RUN_FINISHED", **self._ids, **shown, **about}


def _before_delta(kind: str, message_id: str) -> bytes:
    return b'data: {"type":"%b","messageId":"%b","delta":' % (kind.encode(), message_id.encode())


def _custom(name: str, value: JsonObject, without: str = "") -> JsonObject:
    return {"type": "CUSTOM", "name": name, "value": {key: one for key, one in value.items() if key != without}}


def _usage_of(done: Done) -> JsonObject:
    """Return the tokens of a run in the protocol's accounting, in which the parts are included in the totals."""
    usage = done.usage
    assert usage is not UNSET
    found: JsonObject = {} if done.provider is UNSET else {"provider": done.provider}
    if done.model is not UNSET:
        found["model"] = done.model
    found |= {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "totalTokens": usage.input + usage.output,
    }
    if usage.reasoning is not UNSET:
        found["reasoningTokens"] = usage.reasoning
    if usage.cached is not UNSET:
        found["cachedInputTokens"] = usage.cached
    return found
