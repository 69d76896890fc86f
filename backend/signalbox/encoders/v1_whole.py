"""Encodes a run of contract v1.1 as one JSON object, for requests that ask for no stream."""

from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType, json, structs

from signalbox.core.codes import CODES, Code
from signalbox.core.conversations import shown_id
from signalbox.core.errors import RequestError
from signalbox.core.events import (
    VERSION,
    Content,
    Done,
    Flag,
    Image,
    LoopName,
    Reasoning,
    ResultShape,
    Source,
    Stamped,
    Status,
    ToolCalls,
    ToolResult,
    Unsaved,
    UsageTotals,
    Warning,
    WholeCall,
)
from signalbox.core.records import RunRecord
from signalbox.encoders.step_offsets import StepOffsets
from signalbox.encoders.v1_error import error_of

_encode = json.Encoder().encode
_BETWEEN_STEPS = "\n\n"
_OF_CALL = WholeCall.__struct_fields__


class AnsweredCall(WholeCall, frozen=True, omit_defaults=True, kw_only=True):
    """A call with its result. A call in `handed` has none; `cached`: it is the result of an equal search.

    `artifact` is for people, as in `tool_result`.
    """

    step: int | UnsetType = UNSET
    result: ResultShape | UnsetType = UNSET
    cached: bool | UnsetType = UNSET
    artifact: Any | UnsetType = UNSET


class AnswerWarning(Struct, frozen=True, omit_defaults=True):
    """A warning for the user."""

    message: str
    code: str | UnsetType = UNSET
    step: int | UnsetType = UNSET


class ChatAnswer(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A run that is over, as one object: what its events say, and the fields of its `done` event.

    `text` and `reasoning` contain all pieces, reasoning with an empty line between two steps. Offsets of `sources` are
    in `text`. `refusal`: the text is a refusal. `synthetic`: a part of the text comes from Signalbox, because the model
    gave no answer. `message_id` is the message that the run answers.
    """

    v: str
    run_id: str
    status: Status
    text: str
    reasoning: str
    calls: list[AnsweredCall]
    sources: list[Source]
    images: list[Image]
    warnings: list[AnswerWarning]
    refusal: bool | UnsetType = UNSET
    synthetic: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    retryable: bool | UnsetType = UNSET
    retry_after: float | UnsetType = UNSET
    usage: UsageTotals | UnsetType = UNSET
    cost: float | UnsetType = UNSET
    cost_estimated: bool | UnsetType = UNSET
    requested_model: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    provider: str | UnsetType = UNSET
    upstream: str | UnsetType = UNSET
    loop: LoopName | UnsetType = UNSET
    flag: Flag | UnsetType = UNSET
    steps: int | UnsetType = UNSET
    simulated: bool | UnsetType = UNSET
    duration_ms: int | UnsetType = UNSET
    first_token_ms: int | UnsetType = UNSET
    handed: list[str] | UnsetType = UNSET
    unsaved: Unsaved | UnsetType = UNSET
    conversation_id: str | UnsetType = UNSET
    message_id: str | UnsetType = UNSET


_OF_DONE = tuple(name for name in Done.__struct_fields__ if name in ChatAnswer.__struct_fields__)


def _answered(call: WholeCall, step: int | UnsetType) -> AnsweredCall:
    return AnsweredCall(**{name: getattr(call, name) for name in _OF_CALL}, step=step)


class WholeV1:
    """Collects a run's events. The status of its answer is 200 even if the run failed: `status` says how it ended."""

    content_type: ClassVar[str] = "application/json"

    def __init__(self, run: RunRecord) -> None:
        self._run = run
        self._text: list[str] = []
        self._offsets = StepOffsets()
        self._reasoning: list[str] = []
        self._reasoning_step: object = None
        self._calls: dict[str, AnsweredCall] = {}
        self._sources: list[Source] = []
        self._images: list[Image] = []
        self._warnings: list[AnswerWarning] = []
        self._is_refusal = self._is_synthetic = False
        self._done: Done | None = None

    def feed(self, batch: list[Stamped]) -> None:
        """Add the next events."""
        for stamped in batch:
            match stamped.event:
                case Content() as content:
                    self._add_content(content)
                case Reasoning() as reasoning:
                    self._add_reasoning(reasoning)
                case ToolCalls(calls, step):
                    self._offsets.end_step()
                    self._calls.update((call.id, _answered(call, step)) for call in calls)
                case ToolResult() as result:
                    answered = {name: getattr(result, name) for name in ("result", "cached", "artifact")}
                    self._calls[result.id] = structs.replace(self._calls[result.id], **answered)
                case Warning(message, code, step):
                    self._warnings.append(AnswerWarning(message, code, step))
                case Done() as done:
                    self._done = done
                case _:
                    pass  # announcements of what these events say

    def _add_content(self, event: Content) -> None:
        self._text.append(event.content)
        self._offsets.add_text(event.content)
        self._is_refusal = self._is_refusal or event.refusal is True
        self._is_synthetic = self._is_synthetic or event.synthetic is True
        if event.sources is not UNSET:
            self._sources += map(self._offsets.placed, event.sources)
        if event.images is not UNSET:
            self._images += event.images

    def _add_reasoning(self, event: Reasoning) -> None:
        if not event.content:
            return
        if self._reasoning and event.step != self._reasoning_step:
            self._reasoning.append(_BETWEEN_STEPS)
        self._reasoning_step = event.step
        self._reasoning.append(event.content)

    def answer(self) -> tuple[int, bytes]:
        """Return the status and the body."""
        done, run = self._done, self._run
        if done is None:  # the events end without `done` only if another worker has taken over the run
            return error_of(RequestError(Code.INTERNAL, CODES[Code.SERVER_CRASH].sentence))
        has_message = run.conversation_id is not None and run.parent_id is not None
        answer = ChatAnswer(
            v=VERSION,
            run_id=run.id,
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            calls=[*self._calls.values()],
            sources=self._sources,
            images=self._images,
            warnings=self._warnings,
            refusal=self._is_refusal or UNSET,
            synthetic=self._is_synthetic or UNSET,
            conversation_id=shown_id(run.conversation_id) if has_message and run.conversation_id else UNSET,
            message_id=run.parent_id if has_message and run.parent_id else UNSET,
            **{name: getattr(done, name) for name in _OF_DONE},
        )
        return 200, _encode(answer)
