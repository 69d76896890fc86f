"""The cost limit of a run: checked before each model call, and against an estimate while a reply streams."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from signalbox.chat.answer.answering_model import fallback_that_answered
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import Prices, dearest
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import SignalboxError
from signalbox.core.messages import (
    AssistantMessage,
    Content,
    ContentPart,
    FilePart,
    ImagePart,
    Message,
    TextPart,
    weight_of,
)
from signalbox.core.parts import (
    CallDelta,
    Finish,
    ImageDelta,
    ReasoningDelta,
    RefusalDelta,
    Request,
    Served,
    StreamPart,
    TextDelta,
    ToolSchema,
)
from signalbox.core.ports import ChatClient, Emit, OnHead
from signalbox.offload import offloaded

# An average for English. Tokenizers differ; the reported cost replaces the estimate.
CHARACTERS_PER_TOKEN = 4
# An average, whatever the size of the file: 258 to 1,290 tokens for Gemini, 765 for GPT-4o at 1024 x 1024,
# at most about 1,600 for Claude.
IMAGE_TOKENS = 1_300
_IMAGE = IMAGE_TOKENS * CHARACTERS_PER_TOKEN
_UNKNOWN = Prices(0.0, 0.0)
# A stream that has used this share of what is reserved reserves more, before it reaches the end.
_RESERVE_AGAIN = 0.75


class BudgetReached(SignalboxError):
    """The run ends with the answer so far. It is not an UpstreamError, so it is never retried.

    `is_exhausted`: the budget of its owner has nothing left to reserve, and not the run's own limit is reached.
    """

    def __init__(self, *, has_begun: bool, is_exhausted: bool = False) -> None:
        code = Code.BUDGET_EXHAUSTED if is_exhausted else Code.BUDGET_REACHED
        is_first = not has_begun and not is_exhausted
        super().__init__(code, "The prompt alone reaches the run's cost limit." if is_first else CODES[code].sentence)


class Budget(Struct):
    """The cost limit of one run in USD; without prices only reported costs count.

    `prices` are those of the next attempt's model, or of the dearest model that may answer it. `prices_of` are those of
    each model that may answer, or has answered. `estimates` has one entry per attempt, which counts if the attempt's
    cost was not reported.

    `reserved` is what the run may spend of its owner's budget, None without a budget. `reserve_more` reserves up to an
    amount and returns what was granted; each step reserves its prompt and `output_tokens`.
    """

    limit: float
    prices: Prices | None = None
    estimates: list[float] = []
    prices_of: Mapping[str, Prices] = {}
    reserved: float | None = None
    reserve_more: Callable[[float], Awaitable[float]] | None = None
    output_tokens: int = 0
    _reserving: asyncio.Task[None] | None = None

    def use_prices(self, prices: Mapping[str, Prices]) -> None:
        """Use the prices of the models that may answer: the dearest ones, until a model answers."""
        self.prices, self.prices_of = dearest(prices.values()), prices

    @property
    def cap(self) -> float:
        """What the run may spend: its limit, or what is reserved for it."""
        return self.limit if self.reserved is None else min(self.limit, self.reserved)

    def reached(self, *, has_begun: bool) -> BudgetReached:
        """Return the error that ends the run."""
        return BudgetReached(has_begun=has_begun, is_exhausted=self.cap < self.limit)

    async def reserve_up_to(self, needed: float) -> None:
        """Reserve more if less than this is reserved, as far as the run's limit and its owner's budget allow."""
        if self.reserved is not None and self.reserve_more is not None and self.cap < min(needed, self.limit):
            self.reserved += await self.reserve_more(min(needed, self.limit) - self.reserved)

    @property
    def _is_free(self) -> bool:
        """Whether the model costs nothing, so that nothing has to be reserved."""
        return self.cap < self.limit and self.prices == _UNKNOWN

    def reserve_soon(self) -> None:
        """Reserve another answer's length in the background, while a long answer streams."""
        is_reserving = self._reserving is not None and not self._reserving.done()
        if self.prices is None or is_reserving or self.reserved is None or self.cap >= self.limit:
            return
        needed = self.cap + self.output_tokens * self.prices.completion
        self._reserving = asyncio.get_running_loop().create_task(self.reserve_up_to(needed))

    async def check(self, progress: Progress, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        """Raise BudgetReached if the cost so far and the next prompt reach the limit."""
        needed = self.spent(progress) + await self.price_of_prompt(messages, tools)
        if self.prices is not None:
            await self.reserve_up_to(needed + self.output_tokens * self.prices.completion)
        if needed >= self.cap and not self._is_free:
            raise self.reached(has_begun=bool(progress.attempts))

    def spent(self, progress: Progress) -> float:
        """Return the cost of all finished attempts, estimated if it was not reported."""
        known = len(self.estimates)
        return sum(
            self._cost_of(attempt, self.estimates[place] if place < known else 0.0)
            for place, attempt in enumerate(progress.attempts)
        )

    def estimated(self, progress: Progress) -> float | None:
        """Return what counts until the bill arrives; None if it cannot be estimated, because prices are unknown."""
        return None if any(map(self._lacks_price, progress.attempts)) else self.spent(progress)

    def _lacks_price(self, attempt: Attempt) -> bool:
        """Return whether an attempt may have cost something, and neither its cost nor its model's price is known."""
        if self.prices is not None or attempt.model in self.prices_of:
            return False
        return attempt.is_cost_unknown if attempt.usage is None else attempt.usage.cost is None

    def estimate(self, place: int, cost: float) -> None:
        """Set the estimated cost of an attempt, by its place among all attempts."""
        self.estimates += [0.0] * (place + 1 - len(self.estimates))
        self.estimates[place] = cost

    def _cost_of(self, attempt: Attempt, estimate: float) -> float:
        if attempt.usage is None:
            return estimate if attempt.is_cost_unknown else 0.0
        if attempt.usage.cost is not None:
            return attempt.usage.cost
        own = None if attempt.tool_call else self.prices  # the prices of a tool's model are computed when it ends
        prices = self.prices_of.get(attempt.answering_model) or own or _UNKNOWN
        return prices.cost_of(attempt.usage)

    async def price_of_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> float:
        """Estimate the price of a prompt; files and prompt caching are not considered."""
        if self.prices is None:
            return 0.0
        return await offloaded_prompt_length(messages, tools) / CHARACTERS_PER_TOKEN * self.prices.prompt


def metered(client: ChatClient, budget: Budget | None, progress: Progress) -> ChatClient:
    """Wrap a client so that it enforces the budget, if there is one, for models with known prices."""
    return client if budget is None else _Metered(client, budget, progress)


class _Meter(Struct):
    """Estimates the cost of one reply while it streams.

    `prices` are those of the dearest model that may answer, until the reply names its model. `prompt` and `output` are
    in characters.
    """

    budget: Budget
    request: Request
    prices: Prices
    spent: float
    prompt: float
    place: int
    output: int = 0
    is_finished: bool = False

    @property
    def estimate(self) -> float:
        """What the reply has cost so far."""
        cost = self.prompt * self.prices.prompt + self.output * self.prices.completion
        return cost / CHARACTERS_PER_TOKEN

    def add(self, parts: Sequence[StreamPart]) -> float:
        """Add the cost of these parts; return the estimate."""
        if self.request.params.fallbacks:
            self._find_model(parts)
        self.output += sum(map(characters_of, parts))
        estimate = self.estimate
        self.budget.estimate(self.place, estimate)
        return estimate

    def _find_model(self, parts: Sequence[StreamPart]) -> None:
        """Use the prices of the model that answers, once a part names it."""
        fallbacks = self.request.params.fallbacks or ()
        for part in parts:
            if type(part) is Served and part.model is not None:
                model = fallback_that_answered(part.model, (self.request.model,), fallbacks) or self.request.model
                self.prices = self.budget.prices_of.get(model, self.prices)

    def count(self, parts: list[StreamPart]) -> None:
        """Add the cost of these parts; raises BudgetReached."""
        if self.is_finished:
            return
        estimate = self.add(parts)
        # After the finish only the usage follows.
        self.is_finished = any(type(part) is Finish for part in parts)
        if self.is_finished:
            return
        left = self.budget.cap - self.spent
        if estimate >= left and estimate > 0:
            raise self.budget.reached(has_begun=True)
        if estimate >= _RESERVE_AGAIN * left:
            self.budget.reserve_soon()


class _Metered(Struct, frozen=True):
    """A ChatClient that closes a stream when the budget is reached; a whole reply cannot be stopped early."""

    client: ChatClient
    budget: Budget
    progress: Progress

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Stream the reply; raises BudgetReached after the parts that reach the limit, unless the reply is finished."""
        meter = await self._meter(request)
        if meter is None:
            await self.client.stream(request, emit, on_head)
            return

        def metered(parts: list[StreamPart]) -> None:
            emit(parts)
            meter.count(parts)

        await self.client.stream(request, metered, on_head)

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return a whole reply, and estimate its cost afterwards."""
        meter = await self._meter(request)
        parts = await self.client.complete(request, on_head)
        if meter is not None:
            meter.add(parts)
        return parts

    async def _meter(self, request: Request) -> _Meter | None:
        """Return the meter of an attempt, which has the price of its prompt; None without prices."""
        budget, place = self.budget, len(self.progress.attempts) - 1
        if (prices := budget.prices) is None:
            return None
        spent = budget.spent(self.progress)
        prompt = await offloaded_prompt_length(request.messages, request.tools)
        meter = _Meter(budget, request, prices, spent, prompt, place)
        budget.estimate(place, meter.estimate)
        return meter


def characters_of(part: StreamPart) -> int:
    """Return the length of a part's text; an image counts as many characters as its tokens."""
    match part:
        case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
            return len(text)
        case CallDelta():
            return len(part.name or "") + len(part.arguments or "")
        case ImageDelta():
            return _IMAGE
        case _:
            return 0


async def offloaded_prompt_length(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
    """Return the characters of a prompt; a long one is counted in the offload thread."""
    return await offloaded(partial(prompt_length, messages, tools), size=weight_of(messages, LARGE))


def prompt_length(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
    """Return the characters of a prompt; an image counts as many as its tokens."""
    offered = sum(len(tool.description) + len(str(tool.parameters)) for tool in tools)
    return offered + sum(map(_length_of, messages))


def _length_of(message: Message) -> int:
    if isinstance(message, AssistantMessage):
        calls = sum(len(call.name) + len(str(call.arguments)) for call in message.calls)
        return len(message.content) + len(message.reasoning) + calls + _IMAGE * len(message.images)
    return _length(message.content)


def _length(content: Content) -> int:
    if isinstance(content, str):
        return len(content)
    return sum(map(_length_of_part, content))


def _length_of_part(part: ContentPart) -> int:
    match part:
        case TextPart(text):
            return len(text)
        case ImagePart():
            return _IMAGE
        case FilePart():
            return 0
