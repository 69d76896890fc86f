"""The steps of one run: call the model, retry where that is safe, run the calls of the reply. Both loops use it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.budget import metered
from signalbox.chat.calls.execution import ToolExecution, execute_tool_calls
from signalbox.chat.calls.model_calls import RecordedModelCalls
from signalbox.chat.calls.repair import RepairedCall
from signalbox.chat.calls.running_call import RunningCall
from signalbox.chat.context import ConversationContext
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.chat.loops.state import LoopState
from signalbox.chat.loops.stop_reason import TurnEnd, classify_turn, failure_of
from signalbox.core.codes import Code
from signalbox.core.conversations import shown_id
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent
from signalbox.core.messages import Message
from signalbox.core.parts import Completion, Request
from signalbox.core.ports import ChatClient, Emit, RunRoute, ToolRunner
from signalbox.core.tools import ToolContext, ToolOutcome, ToolSpec

Sleep = Callable[[float], Awaitable[None]]
_RUN_CALLS = (TurnEnd.CALLS, TurnEnd.CUT_CALLS)
_IGNORE_CALLS = (TurnEnd.MALFORMED, TurnEnd.REFUSAL)


class Reply(Protocol):
    """The reply to one attempt. The loops differ in how they read it, and in what they emit before it is complete.

    `may_call`: its request allowed tool calls. `is_visible`: the client has seen some of it, so it is never retried.
    `has_words`: text of later steps begins with a break. `shows_calls`: some arguments of a call are visible.
    """

    may_call: bool
    completion: Completion

    @property
    def is_visible(self) -> bool: ...  # noqa: D102

    @property
    def has_words(self) -> bool: ...  # noqa: D102

    @property
    def shows_calls(self) -> bool: ...  # noqa: D102

    async def read_reply(self, client: ChatClient, request: Request) -> None:
        """Send the request and read the reply to its end; raises UpstreamError."""
        ...

    def finish(self) -> Completion:
        """Return the reply, complete or as far as it was read."""
        ...

    def remaining_events(self) -> list[AnyEvent]:
        """Return the events that were not emitted while the reply was read; called once."""
        ...

    def calls(self, end: TurnEnd) -> Sequence[RunningCall | RepairedCall]:
        """Return the calls of a complete reply; if it did not end well, each call only gets an error as result."""
        ...

    def settle_previews(self) -> list[AnyEvent]:
        """Return the rest of the previews of the calls that `calls` returned, and withdraw all others; called once."""
        ...


BeginReply = Callable[[LoopState, Request, Attempt], Reply]


class Step(Struct):
    """One step whose reply is complete. Its `calls` each need a result; only eager ones have started.

    Until the step is acted on, its calls may be replaced.
    """

    reply: Reply
    end: TurnEnd
    calls: list[RunningCall | RepairedCall]

    @property
    def completion(self) -> Completion:
        """What the reply holds."""
        return self.reply.completion

    @property
    def runs_calls(self) -> bool:
        """Whether the run continues after the results of its calls."""
        return self.end in _RUN_CALLS


def _has_calls(reply: Reply) -> bool:
    return reply.may_call and bool(reply.completion.calls)


class LoopInputs(Struct, frozen=True):
    """What the loop of one run works with. `progress` is updated in place; `tool_context` is made if it is None.

    With a `route`, the client is this route.
    """

    context: ConversationContext
    client: ChatClient
    tools: ToolRunner
    progress: Progress
    tool_context: ToolContext | None = None
    sleep: Sleep = asyncio.sleep
    route: RunRoute | None = None


def _tool_context(context: ConversationContext) -> ToolContext:
    made = ToolContext.for_conversation(context.run_id, context.messages)
    made.owner = context.owner
    made.workspace = context.workspace
    made.conversation_id = shown_id(context.session_id) if context.session_id else None
    made.metadata = context.base_params.metadata or {}
    return made


class Stepper:
    """Takes the steps of one run: `ask` for a reply, then `act` on it, until `is_over`. No tool outlives its block."""

    def __init__(self, inputs: LoopInputs, emit: Emit[list[AnyEvent]]) -> None:
        context, progress = inputs.context, inputs.progress
        tool_context = inputs.tool_context or _tool_context(context)
        tool_context.sources.continue_from(context.cited)
        tool_context.model_calls = RecordedModelCalls(progress, context.budget)
        slots = asyncio.Semaphore(context.limits.tools_at_once)
        self._execution = ToolExecution(context, inputs.tools, tool_context, emit, slots, progress.called)
        self._state = LoopState(context, self._execution, progress, inputs.route)
        progress.observer = self._observer = context.observer
        self._client = metered(inputs.client, context.budget, progress)
        self._emit = emit
        self._sleep = inputs.sleep

    async def __aenter__(self) -> Self:
        """Choose the upstream, and emit the warnings about the request."""
        self._emit([*self._state.choose_upstream(), *self._state.request_warnings()])
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel the tools that still run, and let go of the route."""
        self._state.release_route()
        await self._execution.aclose()

    @property
    def is_over(self) -> bool:
        """Whether the last step ended the run."""
        return self._state.is_over

    async def ask(self, begin_reply: BeginReply) -> Step:
        """Call the model until a reply is complete; raises UpstreamError, BudgetReached."""
        await self._state.begin_step()
        number = 1
        while (reply := await self._attempt(begin_reply, number)) is None:
            number += 1
        has_calls = _has_calls(reply)
        end = classify_turn(
            reply.completion,
            has_calls=has_calls,
            may_call=reply.may_call,
            client_tools=self._state.context.client_tools,
        )
        calls = reply.calls(end) if has_calls and end not in _IGNORE_CALLS else ()
        self._emit(reply.settle_previews())
        return Step(reply, end, list(map(self._execution.identified, calls)))

    async def act(self, step: Step) -> None:
        """Run the calls of a step and append its turn to the history; a step without calls is concluded.

        Raises UpstreamError if a call that is shown turned out otherwise: it cannot be taken back.
        """
        if step.end is TurnEnd.MALFORMED and step.reply.shows_calls:
            raise UpstreamError(Code.MALFORMED_CALL)
        number = self._state.progress.steps
        if step.runs_calls:
            self._state.append_turn(step.completion, await execute_tool_calls(self._execution, step.calls, number))
        else:
            self._execution.start_all(step.calls, number)
            self._emit(self._state.conclude(step.end, step.completion))

    def spec(self, name: str) -> ToolSpec | None:
        """Return the spec of one of our tools."""
        return self._execution.tools.spec(name)

    def results(self, step: Step) -> list[RunningCall]:
        """Return the announced calls of a step, in order; after `act` each has its outcome or is handed over."""
        running = {call.id: call for call in self._execution.calls}
        return [running[call.id] for call in step.calls if call.id in running]

    def refuse(self, call: RunningCall, outcome: ToolOutcome) -> None:
        """Give an eager call that still runs this result, and cancel it."""
        self._execution.refuse(call, outcome)

    def keep_turn(self, step: Step) -> None:
        """Append the turn of a step that ended the run early; each open call gets an error result."""
        self._execution.close_open(Code.CANCELLED)
        self._state.append_turn(step.completion, self.results(step))

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Append messages to the history; the run continues, even if it was over."""
        self._state.add_messages(messages)

    def replace_messages(self, messages: Sequence[Message]) -> None:
        """Replace the history; the run continues, even if it was over."""
        self._state.replace_messages(messages)

    async def _attempt(self, begin_reply: BeginReply, number: int) -> Reply | None:
        """Send one request and read its reply. Return None after the wait if another attempt follows.

        Events that were held back are emitted only if none follows. Raises UpstreamError if the attempt failed for
        good.
        """
        state, progress = self._state, self._state.progress
        request = await state.request()
        attempt = progress.begin_attempt(request, number, final=state.final, at=state.context.destination)
        reply = begin_reply(state, request, attempt)
        error = await self._read(reply, replace(request, trace_headers=self._observer.attempt_began(attempt)))
        retry = error and await state.plan_retry(request, error, is_visible=reply.is_visible)
        if error and retry:
            self._observer.retry_planned(error, retry.wait, retry.warnings)
            self._emit([*reply.settle_previews(), *retry.warnings])
            await self._sleep(retry.wait)
            return None
        self._emit(reply.remaining_events())
        if error is not None:
            state.close_open_calls()
            raise error
        self._emit(state.unreadable_warning(reply.completion))
        state.has_emitted_text = state.has_emitted_text or reply.has_words
        return reply

    async def _read(self, reply: Reply, request: Request) -> UpstreamError | None:
        """Read the reply and settle its attempt; return why the attempt failed, if it did.

        If the run is cancelled, or its budget is reached, the run's ending emits what was held back.
        """
        broken: UpstreamError | None = None
        progress = self._state.progress
        try:
            await reply.read_reply(self._client, request)
        except UpstreamError as error:
            broken = error
        except BaseException:
            self._observer.attempt_read(progress.current, request, reply.finish())
            progress.finish_attempt(reply.finish(), None)
            progress.held_back = reply.remaining_events()
            raise
        error = failure_of(reply.finish(), broken)
        self._observer.attempt_read(progress.current, request, reply.completion)
        progress.finish_attempt(reply.completion, error)
        self._state.record_outcome(error)
        return error
