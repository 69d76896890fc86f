"""The progress of a run: steps, attempts, usage and cost, and its ending."""

from collections.abc import Callable
from operator import attrgetter
from time import time
from typing import Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from signalbox.chat.answer.answering_model import fallback_that_answered
from signalbox.chat.observer import IGNORE, RunObserver
from signalbox.core.catalog import Prices
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Status
from signalbox.core.params import public_choice, public_name
from signalbox.core.parts import Bill, Completion, Request, Served, Usage
from signalbox.core.ports import Destination

# The request was accepted and not answered, so its cost is unknown.
_UNANSWERED = (Code.UPSTREAM_STALLED, Code.STREAM_CUT)
_UNNAMED = Destination()
_name_of, _is_cost_unknown = attrgetter("name"), attrgetter("is_cost_unknown")


class Ending(Struct, frozen=True):
    """How a run ends; `message` is safe to show. `handed` are the calls that the client executes, if `complete`."""

    status: Status
    code: Code | None = None
    message: str = ""
    retryable: bool | None = None
    retry_after: float | None = None
    handed: tuple[str, ...] = ()


class Attempt(Struct):
    """One request to the upstream, without its prompt; times are epoch seconds.

    `upstream` is the name of the upstream, if a file configures several. `settled`: the usage was fetched after the
    run, because the answer did not report it. `cancelled` is then whether the upstream reports the generation as
    cancelled. `cost_estimated`: the answer reported tokens without a cost, which is computed from the prices.
    `tool_call` is the id of the tool call that sent the request, if a tool did. `fallback_model` is the model of the
    request's `models` that answered in place of `model`.
    """

    step: int
    number: int
    final: bool
    model: str
    tools: list[str]
    tool_choice: object
    messages: int
    params: list[str]
    started: float
    changes: list[str] = []
    first_part: float | None = None
    ended: float | None = None
    generation_id: str | None = None
    served_model: str | None = None
    provider: str | None = None
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    usage: Usage | None = None
    error: str | None = None
    code: str | None = None
    streamed: bool = True
    settled: bool = False
    cancelled: bool | None = None
    upstream: str | UnsetType = UNSET
    cost_estimated: Literal[True] | UnsetType = UNSET
    tool_call: str | UnsetType = UNSET
    fallback_model: str | UnsetType = UNSET

    @property
    def answering_model(self) -> str:
        """The model that answered, or would have answered: the requested one, unless a fallback did."""
        return self.fallback_model or self.model

    def set_generation(self, head: Served) -> None:
        """Record the generation id; the request may be cancelled before its first byte."""
        self.generation_id = head.generation_id

    def finish(self, completion: Completion, now: float, error: UpstreamError | str | None) -> None:
        """Record the outcome of the request."""
        self.ended = now
        self.generation_id = completion.served.generation_id or self.generation_id
        self.served_model = completion.served.model
        self.provider = completion.served.provider
        self.finish_reason = completion.finish.word
        self.native_finish_reason = completion.finish.native
        self.usage = completion.usage
        if isinstance(error, UpstreamError):
            self.error, self.code = error.message, str(error.code)
        else:
            self.error = error

    def compute_cost(self, prices: Prices) -> None:
        """Compute the cost from the tokens, unless the answer reported it."""
        if self.usage is not None and self.usage.cost is None:
            self.usage = replace(self.usage, cost=prices.cost_of(self.usage))
            self.cost_estimated = True

    def apply_bill(self, bill: Bill) -> None:
        """Record the real cost, which the upstream reports afterwards (quirk F4)."""
        self.usage = bill.usage
        self.cost_estimated = UNSET
        self.settled = True
        self.cancelled = bill.cancelled
        self.served_model = self.served_model or bill.model
        self.provider = self.provider or bill.provider

    @property
    def is_cost_unknown(self) -> bool:
        """Whether it may have cost something that was not reported.

        A rejected request costs nothing. One that was cancelled, or that stalled, may still be processed upstream.
        """
        if self.usage is not None or self.ended is None:
            return False
        has_begun = self.first_part is not None or self.generation_id is not None
        # A whole answer arrives with its headers: if it was cut before them, it may still have been generated and
        # billed.
        is_lost = not self.streamed and self.code == Code.UPSTREAM_PROTOCOL
        return has_begun or is_lost or self.error is None or self.code in _UNANSWERED


class Progress(Struct):
    """Steps, attempts and costs of one run. The loop writes it; the driver and the trace read it.

    `started` is when the run began (epoch seconds), None outside of a run. `settled_at` is when the last cost that
    the streams did not report was fetched. `held_back` are events that the run's ending emits, because the run was
    stopped before the loop could. `lacks_attempts`: attempts are missing, because their stored record was damaged.
    `called` are the names of the called tools.
    `on_change` is called when an attempt begins,
    gets its generation id, or ends. `observer` observes each attempt.

    `attempts` includes the requests of tools, which overlap. The current attempt is never one of them.
    """

    clock: Callable[[], float] = time
    started: float | None = None
    steps: int = 0
    attempts: list[Attempt] = []
    ending: Ending | None = None
    settled_at: float | None = None
    held_back: list[AnyEvent] = []
    lacks_attempts: bool = False
    on_change: Callable[[], None] = lambda: None
    observer: RunObserver = IGNORE
    called: list[str] = []
    _current: Attempt | None = None
    _at: Destination = _UNNAMED
    _requested: tuple[str, ...] = ()
    _fallbacks: tuple[str, ...] = ()

    def take_held_back(self) -> list[AnyEvent]:
        """Return the events that were held back, once."""
        events, self.held_back = self.held_back, []
        return events

    def begin_attempt(self, request: Request, number: int, *, final: bool, at: Destination = _UNNAMED) -> Attempt:
        """Record the beginning of one request to an upstream."""
        self._at = at
        self._requested, self._fallbacks = (request.model, at.model), request.params.fallbacks or ()
        self._current = self._begin(request, number, final=final, upstream=at.upstream)
        return self._current

    def begin_tool_attempt(self, call_id: str, request: Request, number: int, upstream: str = "") -> Attempt:
        """Record the beginning of a request that a tool sends."""
        return self._begin(request, number, final=False, upstream=upstream, tool_call=call_id)

    def _begin(self, request: Request, number: int, *, final: bool, upstream: str, tool_call: str = "") -> Attempt:
        attempt = Attempt(
            step=self.steps,
            number=number,
            final=final,
            model=request.model,
            tools=list(map(_name_of, request.tools)),
            tool_choice=public_choice(request.tool_choice),
            messages=len(request.messages),
            params=sorted(map(public_name, request.params.set_fields())),
            changes=[*request.changes],
            started=self.clock(),
            upstream=upstream or UNSET,
            tool_call=tool_call or UNSET,
        )
        self.attempts.append(attempt)
        self.on_change()
        return attempt

    def record_head(self, head: Served) -> None:
        """Record the generation id of the current attempt, as soon as the headers or the first frame contain it.

        After a crash it is the only way to fetch the bill.
        """
        self.record_head_of(self.current, head)

    def record_head_of(self, attempt: Attempt, head: Served) -> None:
        """Record the generation id of an attempt."""
        if head.generation_id not in (None, attempt.generation_id):
            attempt.set_generation(head)
            self.on_change()

    def finish_attempt(self, completion: Completion, error: UpstreamError | str | None) -> None:
        """Record the outcome of the current attempt, and which model answered."""
        answered = fallback_that_answered(completion.served.model, self._requested, self._fallbacks)
        self.current.fallback_model = answered or UNSET
        self.finish(self.current, completion, error, self._at.prices_of_answer(answered))

    def finish(
        self, attempt: Attempt, completion: Completion, error: UpstreamError | str | None, prices: Prices | None
    ) -> None:
        """Record the outcome of an attempt; `prices` are those of its model."""
        attempt.finish(completion, self.clock(), error)
        if prices is not None:
            attempt.compute_cost(prices)
        self.on_change()
        self.observer.attempt_ended(attempt)

    @property
    def current(self) -> Attempt:
        """The last attempt of the loop; there must be one."""
        assert self._current is not None
        return self._current

    @property
    def of_the_loop(self) -> list[Attempt]:
        """The attempts without those of tools."""
        return [attempt for attempt in self.attempts if not attempt.tool_call]

    def ms_since_start(self, at: float | None) -> int | None:
        """Return the milliseconds from the run's start to a time; None if either is unknown."""
        if self.started is None or at is None:
            return None
        return max(0, round((at - self.started) * 1000))

    @property
    def first_part(self) -> float | None:
        """When the first part of any answer to the loop arrived."""
        return next((attempt.first_part for attempt in self.of_the_loop if attempt.first_part is not None), None)

    @property
    def first_token_ms(self) -> int | None:
        """Milliseconds from the run's start to the first part of an answer."""
        return self.ms_since_start(self.first_part)

    @property
    def usage(self) -> Usage | None:
        """Tokens and cost of all attempts, including failed ones."""
        known = [attempt.usage for attempt in self.attempts if attempt.usage is not None]
        return sum(known[1:], known[0]) if known else None

    @property
    def is_estimate(self) -> bool:
        """Whether the total lacks an attempt that may have cost something, or has a cost that was computed."""
        if self.lacks_attempts or any(map(_is_cost_unknown, self.attempts)):
            return True
        costs = [attempt.usage.cost for attempt in self.attempts if attempt.usage is not None]
        is_partial = None in costs and any(cost is not None for cost in costs)
        return is_partial or any(attempt.cost_estimated is True for attempt in self.attempts)

    @property
    def upstream(self) -> str | UnsetType:
        """The upstream of the loop's last attempt, if there are several."""
        return self.of_the_loop[-1].upstream if self.of_the_loop else UNSET

    @property
    def fallback_model(self) -> str | None:
        """The model of the request's `models` that gave the last answer, None if the requested model did."""
        return self.served.fallback_model or None if self.served else None

    @property
    def served(self) -> Attempt | None:
        """The loop's last attempt that a provider answered."""
        return next((a for a in reversed(self.of_the_loop) if a.served_model or a.provider), None)
