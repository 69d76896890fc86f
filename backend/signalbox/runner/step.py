"""One step of a run as its caller sees it: the reply is complete, and its tools have not run."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from signalbox.chat.calls.repair import RepairedCall
from signalbox.core.codes import CODES, Code
from signalbox.core.messages import JsonValue
from signalbox.core.parts import Usage
from signalbox.core.tools import ToolOutcome
from signalbox.runner.arguments import object_of, text_of, wrong
from signalbox.runner.errors import UsageError

if TYPE_CHECKING:  # the first run imports the loop
    from signalbox.chat.calls.running_call import RunningCall
    from signalbox.chat.loops.stepper import Step as Turn
    from signalbox.chat.loops.stepper import Stepper


class StepCall(Struct, frozen=True):
    """One tool call that the model made in a step.

    If the call cannot run, `rejected` is the reason, for example that the arguments are not valid JSON. The model gets
    this reason too. Otherwise, `rejected` is None. If `side_effects` is True, the call may change something.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    side_effects: bool = True
    rejected: str | None = None


class CallResult(Struct, frozen=True):
    """The result of one call: `value` if the call succeeded, otherwise `error` and `code`.

    `call.arguments` are the arguments that the tool received, with the changes of `edit`. `artifact` is for people and
    is never sent to a model.
    """

    call: StepCall
    success: bool
    value: JsonValue = None
    error: str = ""
    code: str | None = None
    artifact: JsonValue = None


class Step:
    """A complete reply of the model. Its tools run when your program awaits `results` or requests the next step.

    The first step has the `number` 1. If `final` is True, the run ends with this step, unless your program appends a
    message.
    """

    def __init__(self, stepper: "Stepper", turn: "Turn", number: int, text: str) -> None:
        completion = turn.completion
        self._stepper = stepper
        self._turn = turn
        self._running_before = {call.id: call for call in turn.calls if not isinstance(call, RepairedCall)}
        self._may_act = asyncio.Event()
        self._may_continue = asyncio.Event()
        self._settled = asyncio.Event()
        self._results: list[CallResult] = []
        self.number = number
        self.text = text
        self.reasoning: str = completion.reasoning
        self.usage: Usage | None = completion.usage
        self.final: bool = stepper.is_over
        self.calls: tuple[StepCall, ...] = tuple(self._shown(call) for call in turn.calls)

    def __repr__(self) -> str:
        calls = ", ".join(call.name for call in self.calls)
        return f"Step({self.number}, text={self.text[:40]!r}, calls=[{calls}], final={self.final})"

    # --- for the caller -------------------------------------------------------------------------------------------

    def refuse(self, call: StepCall, why: str) -> None:
        """Prevent a call. The result of the call is an error with the text `why`. The model reads this text.

        Raises UsageError if the call has already run, because `results` was awaited or because the tool is eager.
        """
        self._check_open(call)
        self._refuse(call.id, ToolOutcome.failed(Code.DENIED, text_of("why", why)))

    def edit(self, call: StepCall, arguments: Mapping[str, JsonValue]) -> None:
        """Change the arguments of a call. In later steps, the model sees the new arguments in the conversation.

        Raises UsageError if the call has already run or cannot run. Raises RequestError if the arguments are not JSON.
        """
        self._check_open(call)
        if call.rejected is not None or call.id in self._running_before:
            raise UsageError(f"The call {call.id} cannot be edited: it cannot run, or it runs already.")
        self._change(call.id, arguments=object_of("arguments", arguments))

    async def results(self) -> list[CallResult]:
        """Execute the tool calls if they have not run yet, and return their results in the order of the calls."""
        self._may_act.set()
        await self._settled.wait()
        return self._results

    def _check_open(self, call: StepCall) -> None:
        if not isinstance(call, StepCall):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong("call", "one of step.calls", call)
        if call not in self.calls:
            raise UsageError(f"Step {self.number} has no call {call.id}.")
        if self._may_act.is_set():
            raise UsageError(f"The calls of step {self.number} have run already.")
        running = self._running_before.get(call.id)
        if running is not None and running.outcome is not None:
            raise UsageError(f"The call {call.id} has run already, because the tool {call.name} is eager.")

    # --- for the run ----------------------------------------------------------------------------------------------

    @property
    def known_results(self) -> list[CallResult] | None:
        """The results of its calls, None until they have run."""
        return self._results if self._settled.is_set() else None

    @property
    def is_acting(self) -> bool:
        """Whether its calls are running."""
        return self._may_act.is_set() and not self._settled.is_set()

    async def wait_for_caller(self) -> None:
        """Wait until its calls may run."""
        await self._may_act.wait()

    async def wait_for_release(self) -> None:
        """Wait until the next step may begin."""
        await self._may_continue.wait()

    def release(self) -> None:
        """Let the run go on: run the calls, then take the next step."""
        self._may_act.set()
        self._may_continue.set()

    def refuse_all(self, code: Code, why: str = "") -> None:
        """Refuse every call that has no result."""
        for call in self._turn.calls:
            if call.id is not None:
                self._refuse(call.id, ToolOutcome.failed(code, why or CODES[code].sentence))

    def settle(self) -> None:
        """Publish the results of the calls."""
        if self._settled.is_set():
            return
        shown = {call.id: call for call in self.calls}
        self._results = [_result(shown[one.id], one) for one in self._stepper.results(self._turn)]
        self._settled.set()

    def _refuse(self, call_id: str, outcome: ToolOutcome) -> None:
        if (running := self._running_before.get(call_id)) is not None:
            self._stepper.refuse(running, outcome)
            return
        self._change(call_id, fault=outcome)

    def _change(self, call_id: str, **changes: object) -> None:
        calls = self._turn.calls
        for place, call in enumerate(calls):
            if isinstance(call, RepairedCall) and call.id == call_id:
                calls[place] = structs.replace(call, **changes)

    def _shown(self, call: "RunningCall | RepairedCall") -> StepCall:
        assert call.id is not None  # the stepper has given each call its id
        spec = self._stepper.spec(call.name)
        rejected = call.fault.error if call.fault is not None else None
        return StepCall(call.id, call.name, call.arguments, spec is None or spec.has_side_effects, rejected)


def _result(call: StepCall, running: "RunningCall") -> CallResult:
    outcome = running.outcome or ToolOutcome.failed(Code.CANCELLED, CODES[Code.CANCELLED].sentence)
    code = str(outcome.code) if outcome.code is not None else None
    if call.arguments != running.arguments:  # edited
        call = structs.replace(call, arguments=running.arguments)
    return CallResult(call, outcome.success, outcome.result, outcome.error, code, outcome.artifact)
