"""What a run has done so far: steps, attempts, figures, and how it ends."""

from collections.abc import Callable
from operator import attrgetter
from time import time

from msgspec import Struct

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Status
from signalbox.core.params import public_choice, public_name
from signalbox.core.parts import Bill, Completion, Request, Served, Usage

# The request was taken and no refusal came: what it cost is not known.
_UNANSWERED = (Code.UPSTREAM_STALLED, Code.STREAM_CUT)
_name_of, _is_owed = attrgetter("name"), attrgetter("is_owed")


class Ending(Struct, frozen=True):
    """How a run ends, where that is not complete; `message` is safe to show."""

    status: Status
    code: Code | None = None
    message: str = ""
    retryable: bool | None = None
    retry_after: float | None = None


class Attempt(Struct):
    """One request to the upstream; times are epoch seconds, the prompt is not in it.

    `settled`: the usage was fetched after the run, since the answer never told it; `cancelled` is then the upstream's
    word on whether it was cut short.
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

    def hear(self, head: Served) -> None:
        """Note which generation this is, once that is told: it may be stopped before its first byte."""
        self.generation_id = head.generation_id

    def settle(self, completion: Completion, now: float, error: UpstreamError | str | None) -> None:
        """Note how the request went."""
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

    def charge(self, bill: Bill) -> None:
        """Note what the request really cost, as the upstream told it afterwards (quirk F4)."""
        self.usage = bill.usage
        self.settled = True
        self.cancelled = bill.cancelled
        self.served_model = self.served_model or bill.model
        self.provider = self.provider or bill.provider

    @property
    def is_owed(self) -> bool:
        """Whether it may have cost something that was never told.

        A refusal costs nothing; a request that we left, or that fell silent, may be worked on all the same.
        """
        if self.usage is not None or self.ended is None:
            return False
        has_begun = self.first_part is not None or self.generation_id is not None
        # A whole answer comes with its head: one that broke off before it may have been made, and paid for.
        is_lost = not self.streamed and self.code == Code.UPSTREAM_PROTOCOL
        return has_begun or is_lost or self.error is None or self.code in _UNANSWERED


class Progress(Struct):
    """The run's ledger; the loop writes it, the driver and the trace read it.

    `started` is when the run began (epoch seconds), None outside of a run; `settled_at` is when the last figure that
    the streams had kept to themselves was fetched; `unsaid` is text held back when the run was stopped; `is_short`
    says that attempts are missing, whose record on disk was damaged; `on_change` is told when an attempt begins, is
    named or ends.
    """

    clock: Callable[[], float] = time
    started: float | None = None
    steps: int = 0
    attempts: list[Attempt] = []
    ending: Ending | None = None
    settled_at: float | None = None
    unsaid: list[AnyEvent] = []
    is_short: bool = False
    on_change: Callable[[], None] = lambda: None

    def say(self) -> list[AnyEvent]:
        """Return what was held back, and forget it."""
        said, self.unsaid = self.unsaid, []
        return said

    def begin(self, request: Request, number: int, *, final: bool) -> Attempt:
        """Open the record of one request."""
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
        )
        self.attempts.append(attempt)
        self.on_change()
        return attempt

    def hear(self, head: Served) -> None:
        """Note which generation the attempt under way is, as soon as the answer's head or its first frame tells.

        A crash leaves nothing else to ask for the bill with.
        """
        if head.generation_id not in (None, self.attempts[-1].generation_id):
            self.attempts[-1].hear(head)
            self.on_change()

    def settle(self, completion: Completion, error: UpstreamError | str | None) -> None:
        """Note how the attempt under way went."""
        self.attempts[-1].settle(completion, self.clock(), error)
        self.on_change()

    def since_start(self, at: float | None) -> int | None:
        """Return the milliseconds from the run's start to a time; None where either is not known."""
        if self.started is None or at is None:
            return None
        return max(0, round((at - self.started) * 1000))

    @property
    def first_part(self) -> float | None:
        """When the model first said anything."""
        return next((attempt.first_part for attempt in self.attempts if attempt.first_part is not None), None)

    @property
    def usage(self) -> Usage | None:
        """Tokens and cost over all attempts, failed ones too."""
        known = [attempt.usage for attempt in self.attempts if attempt.usage is not None]
        return sum(known[1:], known[0]) if known else None

    @property
    def is_estimate(self) -> bool:
        """Whether the sum lacks an attempt that may have cost something and never told it."""
        return self.is_short or any(map(_is_owed, self.attempts))

    @property
    def served(self) -> Attempt | None:
        """The last attempt that a provider answered."""
        return next((a for a in reversed(self.attempts) if a.served_model or a.provider), None)
