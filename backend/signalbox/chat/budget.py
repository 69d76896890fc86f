"""The cost limit of a run: checked before each model call, and against an estimate while a reply streams."""

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import Struct

from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.bounds.offload_thresholds import LARGE
from signalbox.core.catalog import Prices
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


class BudgetReached(SignalboxError):
    """The run ends with the answer so far. It is not an UpstreamError, so it is never retried."""

    def __init__(self, *, has_begun: bool) -> None:
        sentence = (
            CODES[Code.BUDGET_REACHED].sentence if has_begun else "The prompt alone reaches the run's cost limit."
        )
        super().__init__(Code.BUDGET_REACHED, sentence)


class Budget(Struct):
    """The cost limit of one run in USD; without prices only reported costs count.

    `prices` are those of the next attempt's model; `prices_of` are those of earlier attempts, by model, if a run may
    change its model. `estimates` has one entry per attempt, which counts if the attempt's cost was not reported.
    """

    limit: float
    prices: Prices | None = None
    estimates: list[float] = []
    prices_of: Mapping[str, Prices] = {}

    async def check(self, progress: Progress, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        """Raise BudgetReached if the cost so far and the next prompt reach the limit."""
        if self.spent(progress) + await self.price_of_prompt(messages, tools) >= self.limit:
            raise BudgetReached(has_begun=bool(progress.attempts))

    def spent(self, progress: Progress) -> float:
        """Return the cost of all finished attempts, estimated if it was not reported."""
        known = len(self.estimates)
        return sum(
            self._cost_of(attempt, self.estimates[place] if place < known else 0.0)
            for place, attempt in enumerate(progress.attempts)
        )

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
        prices = self.prices_of.get(attempt.model) or own or _UNKNOWN
        return prices.cost_of(attempt.usage)

    async def price_of_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> float:
        """Estimate the price of a prompt; files and prompt caching are not considered."""
        if self.prices is None:
            return 0.0
        characters = await offloaded(partial(prompt_length, messages, tools), size=weight_of(messages, LARGE))
        return characters / CHARACTERS_PER_TOKEN * self.prices.prompt


def metered(client: ChatClient, budget: Budget | None, progress: Progress) -> ChatClient:
    """Wrap a client so that it enforces the budget, if there is one, for models with known prices."""
    return client if budget is None else _Metered(client, budget, progress)


class _Meter(Struct):
    """Estimates the cost of one reply while it streams."""

    budget: Budget
    prices: Prices
    left: float
    estimate: float
    place: int
    is_finished: bool = False

    def count(self, parts: list[StreamPart]) -> None:
        """Add the cost of these parts; raises BudgetReached."""
        if self.is_finished:
            return
        self.estimate += sum(map(characters_of, parts)) / CHARACTERS_PER_TOKEN * self.prices.completion
        self.budget.estimate(self.place, self.estimate)
        # After the finish only the usage follows.
        self.is_finished = any(type(part) is Finish for part in parts)
        if not self.is_finished and self.estimate >= self.left:
            raise BudgetReached(has_begun=True)


class _Metered(Struct, frozen=True):
    """A ChatClient that closes a stream when the budget is reached; a whole reply cannot be stopped early."""

    client: ChatClient
    budget: Budget
    progress: Progress

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Stream the reply; raises BudgetReached after the parts that reach the limit, unless the reply is finished."""
        if (prices := self.budget.prices) is None:
            await self.client.stream(request, emit, on_head)
            return
        left = self.budget.limit - self.budget.spent(self.progress)
        meter = _Meter(self.budget, prices, left, *await self._begin(request))

        def metered(parts: list[StreamPart]) -> None:
            emit(parts)
            meter.count(parts)

        await self.client.stream(request, metered, on_head)

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return a whole reply, and estimate its cost afterwards."""
        if (prices := self.budget.prices) is None:
            return await self.client.complete(request, on_head)
        estimate, place = await self._begin(request)
        parts = await self.client.complete(request, on_head)
        output = sum(map(characters_of, parts)) / CHARACTERS_PER_TOKEN
        self.budget.estimate(place, estimate + output * prices.completion)
        return parts

    async def _begin(self, request: Request) -> tuple[float, int]:
        """Return the estimated price of the prompt, and the place of the attempt."""
        place = len(self.progress.attempts) - 1
        estimate = await self.budget.price_of_prompt(request.messages, request.tools)
        self.budget.estimate(place, estimate)
        return estimate, place


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
