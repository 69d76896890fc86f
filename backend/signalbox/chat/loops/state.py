"""Where a run stands and what may come next: the decisions that both loops make alike, without asking anybody."""

from collections.abc import Sequence
from functools import partial

from msgspec import UNSET, Struct, structs

from signalbox.chat.calls.execution import RunningCall, ToolExecution
from signalbox.chat.context import ConversationContext
from signalbox.chat.history.repair import maker_of
from signalbox.chat.loops.degradation import remedy
from signalbox.chat.loops.finalize import finalize_after_tools, missing_answer, with_instructions
from signalbox.chat.loops.progress import Ending, Progress
from signalbox.chat.loops.retry import should_retry
from signalbox.chat.loops.stop_reason import TurnEnd
from signalbox.chat.params import (
    ANSWER_RESERVE,
    UNTOLD_ROOM,
    dropped_params,
    guarded_params,
    has_room,
    prepare_request_params,
)
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content, Warning
from signalbox.core.messages import AssistantMessage, ImagePart, SystemMessage, ToolCall, UserMessage, weight_of
from signalbox.core.parts import Completion, Request, ToolSchema
from signalbox.offload import offloaded

_CALL_AGAIN = (
    "Your last tool call could not be read. If you still need it, make it again through the tool interface, "
    "with valid JSON arguments and never as text in your answer; otherwise answer in words."
)
_ONE_STEP = "max_steps is 1, so the only model call has to be the answer: no tool can run."
# So much of a provider's own word is shown.
_WORD_SHOWN = 64


class Again(Struct, frozen=True):
    """The step may be asked again after `wait` seconds; `events` tell what is asked differently."""

    wait: float = 0.0
    events: tuple[AnyEvent, ...] = ()


class LoopState(Struct):
    """One run's standing. `barren` counts steps in a row that brought nothing new.

    `final` is of the step under way; `_is_limited`: `max_steps` alone keeps it from calling tools.
    """

    context: ConversationContext
    execution: ToolExecution
    progress: Progress
    barren: int = 0
    blank_finals: int = 0
    must_answer: bool = False
    has_spoken: bool = False
    is_over: bool = False
    final: bool = False
    _is_limited: bool = False
    _tries: int = 0
    _words: str = ""
    _corrected: set[TurnEnd] = set()

    def opening(self) -> list[AnyEvent]:
        """Tell what of the request will not be sent as asked."""
        told: list[AnyEvent] = []
        if dropped := dropped_params(self.context):
            words = f"Not sent as requested because the provider would reject it: {', '.join(dropped)}."
            told.append(Warning(words, Code.PARAM_DROPPED))
        if self.context.tool_schemas and not self.context.offered:
            told.append(_warning(Code.TOOLS_DROPPED))
        if not self.context.sees_images and self._has_images():
            told.append(_warning(Code.CONTENT_DROPPED))
        if self.context.limits.max_steps == 1 and self.context.offered and self.context.tool_choice != "none":
            told.append(Warning(_ONE_STEP, Code.MAX_STEPS))
        return told

    def _has_images(self) -> bool:
        if any(isinstance(m, AssistantMessage) and m.images for m in self.context.messages):
            return True
        said = (m.content for m in self.context.messages if isinstance(m, UserMessage | SystemMessage))
        return any(isinstance(part, ImagePart) for content in said if not isinstance(content, str) for part in content)

    async def begin_step(self) -> None:
        """Count a model call, and decide whether it must be the answer.

        Raises BudgetReached where there is no money for another one.
        """
        limits, offered = self.context.limits, self.context.offered
        await self._check_budget(offered)
        self.progress.steps += 1
        self.execution.tool_context.begin_step()
        self._tries = 0
        is_last = self.progress.steps >= limits.max_steps
        is_stuck = self.must_answer or self.barren >= limits.barren_steps
        self.final = self.must_answer if not offered else is_last or is_stuck
        self._is_limited = bool(offered) and not is_stuck and 1 < self.progress.steps == limits.max_steps

    async def _check_budget(self, offered: Sequence[ToolSchema]) -> None:
        if self.context.budget is not None:
            await self.context.budget.check(self.progress, self.context.messages, offered)

    async def request(self) -> Request:
        """Build the request of the step under way; a long conversation's in the thread beside the loop."""
        return await offloaded(self._request, size=self._size)

    @property
    def _size(self) -> int:
        return weight_of(self.context.messages, LARGE)

    def _request(self) -> Request:
        if self.final:
            again = self.blank_finals > 0 or not self.context.tool_schemas
            request = finalize_after_tools(self.context, again=again)
        else:
            request = prepare_request_params(self.context, first=self.progress.steps - len(self._corrected) == 1)
        if not self._words:
            return request
        return structs.replace(request, messages=with_instructions(request.messages, self._words))

    async def again(self, request: Request, error: UpstreamError, *, is_visible: bool) -> Again | None:
        """Say whether a failed attempt may be followed by another: a changed one, or the same after a wait.

        Never behind anything visible, tools that began to run included: it would be there twice (quirk F2). Raises
        BudgetReached where it might, but there is no money for it.
        """
        self._tries += 1
        if retry := should_retry(self.context, self._tries, is_visible, error, self._waited()):
            await self._check_budget(self.context.offered)
            return Again(retry.wait)
        if is_visible:
            return None
        told = await offloaded(partial(remedy, self.context, request, error), size=self._size)
        if told is None:
            return None
        await self._check_budget(self.context.offered)
        self._tries = 0
        return Again(events=tuple(told))

    def _waited(self) -> float:
        """Return how many seconds the attempts took that were alike."""
        return self.progress.clock() - self.progress.attempts[-self._tries].started

    def conclude(self, end: TurnEnd, completion: Completion) -> list[AnyEvent]:
        """Take in a step none of whose calls ran: an answer, nothing, or a turn that was cut, withheld or stopped."""
        return [*self._limited(end, completion), *self._concluded(end, completion)]

    def _limited(self, end: TurnEnd, completion: Completion) -> list[AnyEvent]:
        """Tell that the limit changed something: a model at its last step still called tools, or fell silent."""
        wanted = completion.calls or completion.leaked or (end is TurnEnd.BLANK and self.execution.calls)
        if not (self._is_limited and wanted):
            return []
        self._is_limited = False
        limit = self.context.limits.max_steps
        words = f"The limit of {limit} model calls was reached, so the model could not call more tools."
        return [Warning(words, Code.MAX_STEPS, self.progress.steps)]

    def _concluded(self, end: TurnEnd, completion: Completion) -> list[AnyEvent]:
        self._words = ""
        match end:
            case TurnEnd.ANSWER:
                self.context.messages.append(self._said(completion))
                self.is_over = True
                return []
            case TurnEnd.LENGTH:
                return self._end(Ending("length", Code.LENGTH, CODES[Code.LENGTH].sentence))
            case TurnEnd.REFUSAL:
                return self._end(Ending("content_filter", Code.CONTENT_FILTER, CODES[Code.CONTENT_FILTER].sentence))
            case TurnEnd.PAUSED:
                return self._end(Ending("interrupted", Code.TURN_PAUSED, CODES[Code.TURN_PAUSED].sentence))
            case TurnEnd.UNKNOWN:
                return self._end(Ending("interrupted", Code.STOP_UNKNOWN, _unknown_stop(completion)))
            case TurnEnd.LENGTH_BLANK:
                return self._more_room(completion)
            case TurnEnd.MALFORMED:
                return self._correct(end)
            case TurnEnd.LEAKED if TurnEnd.LEAKED not in self._corrected:
                return self._correct(end)
            case TurnEnd.LEAKED if completion.content.strip():
                return self._concluded(TurnEnd.ANSWER, completion)
            case TurnEnd.BLANK | TurnEnd.LEAKED:
                return self._after_blank()
            case TurnEnd.CALLS | TurnEnd.CUT_CALLS:
                raise ValueError("a step of calls is remembered, not concluded")

    def remember(self, completion: Completion, calls: Sequence[RunningCall]) -> None:
        """Take a step's words, calls and results into the history, and note whether it brought anything new."""
        self._words = ""
        pairs = [call.message() for call in calls]
        self.context.messages.append(self._said(completion, [call for call, _ in pairs]))
        self.context.messages.extend(result for _, result in pairs)
        self.barren = 0 if any(call.fresh for call in calls) else self.barren + 1

    def unreadable(self, completion: Completion) -> list[AnyEvent]:
        """Tell when frames of the answer had to be left out."""
        if not completion.unreadable:
            return []
        return [Warning(CODES[Code.FRAME_UNREADABLE].sentence, Code.FRAME_UNREADABLE, self.progress.steps)]

    def close_open_calls(self) -> None:
        """Answer what is open when a step fails for good."""
        self.execution.close_open(Code.STEP_FAILED)

    def _correct(self, end: TurnEnd) -> list[AnyEvent]:
        """Have a step of calls that cannot be read made again, once; none of it enters the history (A11, A13)."""
        if end in self._corrected:
            raise UpstreamError(Code.MALFORMED_CALL)
        self._corrected.add(end)
        self._words = _CALL_AGAIN
        self.close_open_calls()
        return []

    def _more_room(self, completion: Completion) -> list[AnyEvent]:
        """Ask once more, with more room, a model that used up its length limit before it answered (quirk B8)."""
        if TurnEnd.LENGTH_BLANK in self._corrected:
            return self._end(Ending("length", Code.REASONING_LENGTH, CODES[Code.REASONING_LENGTH].sentence))
        self._corrected.add(TurnEnd.LENGTH_BLANK)
        limit = guarded_params(self.context).max_tokens or (completion.usage.output if completion.usage else 0)
        if not has_room(self.context, limit):
            return self._end(Ending("length", Code.REASONING_LENGTH, CODES[Code.REASONING_LENGTH].sentence))
        self.context.degradation.raised_limit = max(2 * limit, limit + ANSWER_RESERVE) if limit else UNTOLD_ROOM
        return [_warning(Code.MORE_ROOM, self.progress.steps)]

    def _said(self, completion: Completion, calls: Sequence[ToolCall] = ()) -> AssistantMessage:
        return AssistantMessage(
            content=completion.content,
            calls=tuple(calls),
            reasoning=completion.reasoning,
            reasoning_details=completion.reasoning_details,
            reasoning_field=completion.reasoning_field,
            model=maker_of(self.context, completion.served.model),
            provider=completion.served.provider,
            images=tuple(ImagePart(image.url) for image in completion.images),
        )

    def _after_blank(self) -> list[AnyEvent]:
        """An empty turn is followed by one that must answer; a second empty one by a sentence of ours (quirk D2)."""
        if not self.final:
            self.must_answer = True
            return []
        self.blank_finals += 1
        if self.blank_finals == 1 and self.context.offered:
            return []
        if not self.execution.calls:
            raise UpstreamError(Code.EMPTY_ANSWER)
        self.is_over = True
        sentence = missing_answer(self.execution.tool_context.sources.titles)
        warning = Warning(CODES[Code.FINAL_EMPTY].sentence, Code.FINAL_EMPTY, self.progress.steps)
        gap: list[AnyEvent] = [Content("\n\n")] if self.has_spoken else []
        return [warning, *gap, Content(sentence, synthetic=True)]

    def _end(self, ending: Ending) -> list[AnyEvent]:
        self.progress.ending = ending
        self.is_over = True
        self.close_open_calls()
        return []


def may_call(request: Request) -> bool:
    """Whether the model may call tools in answer to this request."""
    return bool(request.tools) and request.tool_choice != "none"


def _unknown_stop(completion: Completion) -> str:
    """Name the words that the provider stopped with, as far as they can be shown."""
    words = filter(None, (completion.finish.word, completion.finish.native))
    named = ", ".join(dict.fromkeys("".join(filter(str.isprintable, word[:_WORD_SHOWN])) for word in words))
    return f"The provider stopped for a reason that Signalbox does not know: {named}."


def _warning(code: Code, step: int | None = None) -> Warning:
    return Warning(CODES[code].sentence, code, UNSET if step is None else step)
