"""The model calls of a run's tools: sent through the tool's route, and counted in the run's usage, cost and budget."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from signalbox.chat.answer.response import parse_completion_response
from signalbox.chat.budget import CHARACTERS_PER_TOKEN, IMAGE_TOKENS, Budget, characters_of, prompt_length
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.chat.loops.stop_reason import failure_of
from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import ToolError, UpstreamError
from signalbox.core.parts import Completion, Request, StreamPart, Usage
from signalbox.core.ports import Destination, RunRoute

# A call must leave something of the budget.
_LEAST_USD = 1e-6
_BUDGET = "The run's cost limit does not allow this model call. Answer with what you have."
_OWNERS = "The budget of the token or its group does not allow this model call. Answer with what you have."


class RecordedModelCalls(Struct, eq=False):
    """The ModelCalls of one run: each request is an attempt of the run. `_reserved` is what open ones may cost."""

    progress: Progress
    budget: Budget | None = None
    _reserved: float = 0.0

    async def complete(self, call_id: str, route: RunRoute, request: Request, number: int = 1) -> Completion:
        """Send one request and return the whole answer; raises UpstreamError, ToolError (of a limit or budget)."""
        there = route.current
        estimate = _cost_before(request, there.prices)
        await self._check_budget(estimate)
        attempt = self.progress.begin_tool_attempt(call_id, request, number, there.upstream)
        if self.budget is not None:
            self.budget.estimate(len(self.progress.attempts) - 1, estimate)
        try:
            return await self._send(attempt, route, request, there)
        finally:
            self._reserved -= estimate

    async def _check_budget(self, estimate: float) -> None:
        """Add an estimate to what open calls may cost; raises ToolError if the budget does not allow that."""
        self._reserved += estimate
        if self.budget is None:
            return
        try:
            await self.budget.reserve_up_to(self.budget.spent(self.progress) + self._reserved + _LEAST_USD)
        except BaseException:  # cancelled
            self._reserved -= estimate
            raise
        if self.budget.spent(self.progress) + self._reserved >= self.budget.cap:
            self._reserved -= estimate
            is_exhausted = self.budget.cap < self.budget.limit
            raise ToolError(Code.BUDGET_EXHAUSTED, _OWNERS) if is_exhausted else ToolError(Code.BUDGET_REACHED, _BUDGET)

    async def _send(self, attempt: Attempt, route: RunRoute, request: Request, there: Destination) -> Completion:
        parts: list[StreamPart] = []

        def collect(read: Sequence[StreamPart]) -> None:
            if attempt.first_part is None:
                attempt.first_part = self.progress.clock()
            parts.extend(read)

        broken: UpstreamError | None = None
        try:
            sent = replace(request, trace_headers=self.progress.observer.attempt_began(attempt))
            await route.stream(sent, collect, partial(self.progress.record_head_of, attempt))
        except UpstreamError as error:
            broken = error
        except BaseException:  # cancelled
            completion = parse_completion_response(parts)
            self.progress.observer.attempt_read(attempt, request, completion)
            self.progress.finish(attempt, completion, None, there.prices)
            raise
        completion = parse_completion_response(parts)
        error = failure_of(completion, broken)
        if error is None:
            completion = _with_usage(completion, request, parts, there.prices)
        self.progress.observer.attempt_read(attempt, request, completion)
        self.progress.finish(attempt, completion, error, there.prices)
        route.record(error)
        if error is not None:
            raise error
        return completion


def _cost_before(request: Request, prices: Prices | None) -> float:
    """Estimate the cost of a request: its prompt, and an image if it asks for one; 0 without prices."""
    if prices is None:
        return 0.0
    drawn = IMAGE_TOKENS if "image" in (request.params.modalities or ()) else 0
    return prices.cost_of(Usage(_prompt_tokens(request), drawn))


def _with_usage(
    completion: Completion, request: Request, parts: Sequence[StreamPart], prices: Prices | None
) -> Completion:
    """Estimate the tokens of an answer that does not report them, if they have a price."""
    if completion.usage is not None or prices is None:
        return completion
    output = sum(map(characters_of, parts)) // CHARACTERS_PER_TOKEN
    return replace(completion, usage=Usage(_prompt_tokens(request), output))


def _prompt_tokens(request: Request) -> int:
    return prompt_length(request.messages, request.tools) // CHARACTERS_PER_TOKEN
