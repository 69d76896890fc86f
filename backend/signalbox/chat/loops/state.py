"""The state of a loop and its decisions: what to request, whether to retry, what a turn's ending means. No I/O."""

from collections.abc import Sequence
from functools import partial

from msgspec import UNSET, Struct, structs

from signalbox.chat.answer.native import native_of
from signalbox.chat.calls.execution import ToolExecution
from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.context import ConversationContext
from signalbox.chat.history.repair import author_of
from signalbox.chat.loops.degradation import degrade
from signalbox.chat.loops.fallback import dropped_warning, fall_back, first_upstream
from signalbox.chat.loops.finalize import finalize_after_tools, missing_answer, with_instructions
from signalbox.chat.loops.progress import Ending, Progress
from signalbox.chat.loops.retry import Retry, should_retry
from signalbox.chat.loops.stop_reason import TurnEnd
from signalbox.chat.params import (
    ANSWER_RESERVE,
    DEFAULT_RAISED_LIMIT,
    can_raise_limit,
    guarded_params,
    prepare_request_params,
)
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Content, Warning
from signalbox.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    ToolCall,
    UserMessage,
    weight_of,
)
from signalbox.core.parts import Completion, Request, ToolSchema
from signalbox.core.ports import RunRoute
from signalbox.core.security.conversation_texts import texts_of
from signalbox.offload import offloaded

_REPEAT_CALL = (
    "Your last tool call could not be read. If you still need it, make it again through the tool interface, "
    "with valid JSON arguments and never as text in your answer; otherwise answer in words."
)
_ONE_STEP = "max_steps is 1, so the only model call has to be the answer: no tool can run."
# The longest part of a provider's stop reason that is shown.
_WORD_SHOWN = 64


class LoopState(Struct):
    """The state of one run's loop. `unproductive_steps` counts consecutive steps that added nothing new.

    `final`: the current step is the finalize. `_is_limited`: only `max_steps` keeps this step from calling tools.
    `_attempts_alike` counts the attempts since the request last changed. `_correction` is a note to the model about its
    last turn; `_corrected` are the kinds of ending that were retried once already.
    """

    context: ConversationContext
    execution: ToolExecution
    progress: Progress
    route: RunRoute | None = None
    unproductive_steps: int = 0
    empty_finals: int = 0
    must_answer: bool = False
    has_emitted_text: bool = False
    is_over: bool = False
    final: bool = False
    _is_limited: bool = False
    _attempts_alike: int = 0
    _correction: str = ""
    _corrected: set[TurnEnd] = set()

    def choose_upstream(self) -> list[AnyEvent]:
        """Choose the upstream of the run; return a warning if it is not the first of the route."""
        return first_upstream(self.context, self.route) if self.route else []

    def record_outcome(self, error: UpstreamError | None) -> None:
        """Record for later runs whether the upstream answered."""
        if self.route is not None:
            self.route.record(error)

    def release_route(self) -> None:
        """Let go of the route: no further request follows."""
        if self.route is not None:
            self.route.release()

    def request_warnings(self) -> list[AnyEvent]:
        """Return a warning for each part of the request that is not sent as requested."""
        warnings = dropped_warning(self.context)
        if self.context.tool_schemas and not self.context.offered:
            warnings.append(_warning(Code.TOOLS_DROPPED))
        if not self.context.sees_images and self._has_images():
            warnings.append(_warning(Code.CONTENT_DROPPED))
        if self.context.limits.max_steps == 1 and self.context.offered and self.context.tool_choice != "none":
            warnings.append(Warning(_ONE_STEP, Code.MAX_STEPS))
        return warnings

    def _has_images(self) -> bool:
        if any(isinstance(m, AssistantMessage) and m.images for m in self.context.messages):
            return True
        sent = (m.content for m in self.context.messages if isinstance(m, UserMessage | SystemMessage))
        return any(isinstance(part, ImagePart) for content in sent if not isinstance(content, str) for part in content)

    async def begin_step(self) -> None:
        """Count a step, and decide whether it is the finalize; raises BudgetReached."""
        limits, offered = self.context.limits, self.context.offered
        await self._check_budget(offered)
        self.progress.steps += 1
        self.execution.tool_context.begin_step()
        self._attempts_alike = 0
        is_last = self.progress.steps >= self._last_step
        is_stuck = self.must_answer or self.unproductive_steps >= limits.max_unproductive_steps
        self.final = self.must_answer if not offered else is_last or is_stuck
        self._is_limited = bool(offered) and not is_stuck and 1 < self.progress.steps == self._last_step

    @property
    def _last_step(self) -> int:
        """The step in which tools are off. In a run that works on files, it is taken only if the limit cut the work."""
        return self.context.limits.max_steps + (1 if self.execution.used_files else 0)

    async def _check_budget(self, offered: Sequence[ToolSchema]) -> None:
        if self.context.budget is not None:
            await self.context.budget.check(self.progress, self.context.messages, offered)

    async def request(self) -> Request:
        """Build the request of the current step; for a long conversation in the offload thread."""
        return await offloaded(self._request, size=self._size)

    @property
    def _size(self) -> int:
        return weight_of(self.context.messages, LARGE)

    def _request(self) -> Request:
        if self.final:
            again = self.empty_finals > 0 or not self.context.tool_schemas
            request = finalize_after_tools(self.context, again=again, used_files=self.execution.used_files)
        else:
            request = prepare_request_params(self.context, first=self.progress.steps - len(self._corrected) == 1)
        if not self._correction:
            return request
        return structs.replace(request, messages=with_instructions(request.messages, self._correction))

    async def plan_retry(self, request: Request, error: UpstreamError, *, is_visible: bool) -> Retry | None:
        """Decide whether another attempt follows: the same request after a wait, or at once a changed one.

        A changed request is degraded, or goes to another upstream. None follows once anything is visible, including a
        tool that started: it would be duplicated (quirk F2). Raises BudgetReached if the next attempt would cost too
        much.
        """
        self._attempts_alike += 1
        if retry := should_retry(self.context, self._attempts_alike, is_visible, error, self._seconds_waited()):
            await self._check_budget(self.context.offered)
            return retry
        if is_visible:
            return None
        warnings = await offloaded(partial(degrade, self.context, request, error), size=self._size)
        if warnings is None:
            warnings = self._fall_back(error)
        if warnings is None:
            return None
        await self._check_budget(self.context.offered)
        self._attempts_alike = 0
        return Retry(0.0, tuple(warnings))

    def _fall_back(self, error: UpstreamError) -> list[AnyEvent] | None:
        """Fall back in the first step only: later ones depend on what this upstream has sent."""
        if self.route is None or self.progress.steps > 1:
            return None
        return fall_back(self.context, self.route, error)

    def _seconds_waited(self) -> float:
        """Return how long the attempts with the same request took."""
        return self.progress.clock() - self.progress.of_the_loop[-self._attempts_alike].started

    def conclude(self, end: TurnEnd, completion: Completion) -> list[AnyEvent]:
        """Conclude a step that runs no calls: an answer, an empty turn, or a turn that was cut, withheld or stopped."""
        return [*self._limit_warning(end, completion), *self._apply(end, completion)]

    def _limit_warning(self, end: TurnEnd, completion: Completion) -> list[AnyEvent]:
        """Warn if the limit had an effect: the model still called tools, or returned nothing in its last step."""
        if not self._is_limited:
            return []
        limit = self.context.limits.max_steps
        if self.execution.used_files:
            self._is_limited = False
            words = f"The model still called tools in step {limit}, the last one that max_steps allows."
            return [Warning(f"{words} The files are as these calls left them.", Code.TURN_LIMIT, self.progress.steps)]
        if not (completion.calls or completion.leaked or (end is TurnEnd.BLANK and self.execution.calls)):
            return []
        self._is_limited = False
        words = f"The limit of {limit} model calls was reached, so the model could not call more tools."
        return [Warning(words, Code.MAX_STEPS, self.progress.steps)]

    def _apply(self, end: TurnEnd, completion: Completion) -> list[AnyEvent]:
        self._correction = ""
        match end:
            case TurnEnd.ANSWER:
                self.context.messages.append(self._assistant_message(completion))
                self.is_over = True
                return []
            case TurnEnd.LENGTH:
                return self._end_run(Ending("length", Code.LENGTH, CODES[Code.LENGTH].sentence))
            case TurnEnd.REFUSAL:
                return self._end_run(Ending("content_filter", Code.CONTENT_FILTER, CODES[Code.CONTENT_FILTER].sentence))
            case TurnEnd.PAUSED:
                return self._after_pause(completion)
            case TurnEnd.UNKNOWN:
                return self._end_run(Ending("interrupted", Code.STOP_UNKNOWN, _unknown_stop(completion)))
            case TurnEnd.LENGTH_BLANK:
                return self._raise_length_limit(completion)
            case TurnEnd.MALFORMED:
                return self._request_correction(end)
            case TurnEnd.LEAKED if TurnEnd.LEAKED not in self._corrected:
                return self._request_correction(end)
            case TurnEnd.LEAKED if completion.content.strip():
                return self._apply(TurnEnd.ANSWER, completion)
            case TurnEnd.BLANK | TurnEnd.LEAKED:
                return self._after_empty_turn()
            case TurnEnd.CALLS | TurnEnd.CUT_CALLS:
                raise ValueError("a step with calls is appended, not concluded")

    def append_turn(self, completion: Completion, calls: Sequence[RunningCall]) -> None:
        """Append a step's text, calls and results to the history, and note whether it added anything new.

        A step with calls of the client's tools ends the run: they are handed over.
        """
        self._correction = ""
        pairs = [call.message() for call in calls]
        self.context.messages.append(self._assistant_message(completion, [call for call, _ in pairs]))
        self.context.messages.extend(result for _, result in pairs if result is not None)
        if handed := tuple(call.id for call in calls if call.is_handed):
            self.progress.ending = Ending("complete", handed=handed)
            self.is_over = True
        self.unproductive_steps = 0 if any(call.is_new for call in calls) else self.unproductive_steps + 1

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Append messages of the caller. After the end of the run they begin a new turn."""
        self.context.messages.extend(messages)
        self.execution.tool_context.url_allowlist.allow_texts(texts_of(tuple(messages)))
        if self.is_over:
            self._begin_turn()

    def replace_messages(self, messages: Sequence[Message]) -> None:
        """Replace the history by messages of the caller, which begin a new turn."""
        self.context.messages[:] = messages
        self.execution.tool_context.url_allowlist.allow_texts(texts_of(tuple(messages)))
        self._begin_turn()

    def _begin_turn(self) -> None:
        self.context.loop_start = len(self.context.messages)
        self.progress.ending = None
        self.is_over = self.must_answer = False
        self.unproductive_steps = self.empty_finals = 0
        self._correction = ""
        self._corrected = set()

    def unreadable_warning(self, completion: Completion) -> list[AnyEvent]:
        """Warn if frames of the answer were unreadable and left out."""
        if not completion.unreadable:
            return []
        return [Warning(CODES[Code.FRAME_UNREADABLE].sentence, Code.FRAME_UNREADABLE, self.progress.steps)]

    def close_open_calls(self) -> None:
        """Give every open call an error result, because its step failed for good."""
        self.execution.close_open(Code.STEP_FAILED)

    def _request_correction(self, end: TurnEnd) -> list[AnyEvent]:
        """Retry a step whose calls cannot be read, once; it does not enter the history (quirks A11, A13)."""
        if end in self._corrected:
            raise UpstreamError(Code.MALFORMED_CALL)
        self._corrected.add(end)
        self._correction = _REPEAT_CALL
        self.close_open_calls()
        return []

    def _raise_length_limit(self, completion: Completion) -> list[AnyEvent]:
        """Retry once with a higher limit if the model reached its length limit before it answered (quirk B8)."""
        if TurnEnd.LENGTH_BLANK in self._corrected:
            return self._end_run(Ending("length", Code.REASONING_LENGTH, CODES[Code.REASONING_LENGTH].sentence))
        self._corrected.add(TurnEnd.LENGTH_BLANK)
        limit = guarded_params(self.context).max_tokens or (completion.usage.output if completion.usage else 0)
        if not can_raise_limit(self.context, limit):
            return self._end_run(Ending("length", Code.REASONING_LENGTH, CODES[Code.REASONING_LENGTH].sentence))
        self.context.degradation.raised_limit = (
            max(2 * limit, limit + ANSWER_RESERVE) if limit else DEFAULT_RAISED_LIMIT
        )
        return [_warning(Code.MORE_ROOM, self.progress.steps)]

    def _assistant_message(self, completion: Completion, calls: Sequence[ToolCall] = ()) -> AssistantMessage:
        return AssistantMessage(
            content=completion.content,
            calls=tuple(calls),
            reasoning=completion.reasoning,
            reasoning_details=completion.reasoning_details,
            reasoning_field=completion.reasoning_field,
            model=author_of(self.context, completion.served.model),
            provider=completion.served.provider,
            images=tuple(ImagePart(image.url) for image in completion.images),
            native=native_of(completion, calls, self.context.destination.upstream),
            upstream=self.context.destination.upstream,
        )

    def _after_pause(self, completion: Completion) -> list[AnyEvent]:
        """Send a paused turn back unchanged, so that the model continues it; not in the finalize.

        The finalize allows no tools, not even the provider's own, which the model is using.
        """
        last = self._last_step - 1 if self.context.offered else self.context.limits.max_steps
        if native_of(completion, ()) is None or self.final or self.progress.steps >= last:
            return self._end_run(Ending("interrupted", Code.TURN_PAUSED, CODES[Code.TURN_PAUSED].sentence))
        self.context.messages.append(self._assistant_message(completion))
        return []

    def _after_empty_turn(self) -> list[AnyEvent]:
        """Finalize after an empty turn; after two empty finalizes, answer with a synthetic sentence (quirk D2)."""
        if not self.final:
            self.must_answer = True
            return []
        self.empty_finals += 1
        if self.empty_finals == 1 and self.context.offered:
            return []
        if not self.execution.calls:
            raise UpstreamError(Code.EMPTY_ANSWER)
        self.is_over = True
        sentence = missing_answer(self.execution.tool_context.sources.titles)
        warning = Warning(CODES[Code.FINAL_EMPTY].sentence, Code.FINAL_EMPTY, self.progress.steps)
        gap: list[AnyEvent] = [Content("\n\n")] if self.has_emitted_text else []
        return [warning, *gap, Content(sentence, synthetic=True)]

    def _end_run(self, ending: Ending) -> list[AnyEvent]:
        self.progress.ending = ending
        self.is_over = True
        self.close_open_calls()
        return []


def _unknown_stop(completion: Completion) -> str:
    """Return a sentence with the provider's unknown stop reason, shortened and printable."""
    words = filter(None, (completion.finish.word, completion.finish.native))
    named = ", ".join(dict.fromkeys("".join(filter(str.isprintable, word[:_WORD_SHOWN])) for word in words))
    return f"The provider stopped for a reason that Signalbox does not know: {named}."


def _warning(code: Code, step: int | None = None) -> Warning:
    return Warning(CODES[code].sentence, code, UNSET if step is None else step)
