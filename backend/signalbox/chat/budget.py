"""What a run may cost: before each model call by what is known, and while one streams by an estimate of its price."""

from collections.abc import Sequence
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

# What a token is in English, about; no two families agree, and the bill is what counts in the end.
CHARACTERS_PER_TOKEN = 4
# What an image is, about, whatever the size of its file: 258 to 1,290 tokens for Gemini, 765 for GPT-4o at 1024 x 1024,
# at most about 1,600 for Claude.
IMAGE_TOKENS = 1_300
_IMAGE = IMAGE_TOKENS * CHARACTERS_PER_TOKEN


class BudgetReached(SignalboxError):
    """The run ends with what there is of an answer. No UpstreamError: nothing asks again behind it."""

    def __init__(self, *, has_begun: bool) -> None:
        sentence = (
            CODES[Code.BUDGET_REACHED].sentence if has_begun else "The prompt alone reaches the run's cost limit."
        )
        super().__init__(Code.BUDGET_REACHED, sentence)


class Budget(Struct):
    """What one run may cost in USD; without prices only what the upstream has told counts.

    `estimates` are those of the attempts, in their order: they hold where an attempt never told what it cost.
    """

    limit: float
    prices: Prices | None = None
    estimates: list[float] = []

    async def check(self, progress: Progress, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> None:
        """Let another model call begin, unless what is spent and its prompt reach the limit; raises BudgetReached."""
        if self.spent(progress) + await self.price_of_prompt(messages, tools) >= self.limit:
            raise BudgetReached(has_begun=bool(progress.attempts))

    def spent(self, progress: Progress) -> float:
        """Return what all attempts that have ended cost, estimated where they did not tell."""
        known = len(self.estimates)
        return sum(
            self._cost_of(attempt, self.estimates[place] if place < known else 0.0)
            for place, attempt in enumerate(progress.attempts)
        )

    def _cost_of(self, attempt: Attempt, estimate: float) -> float:
        if attempt.usage is None:
            return estimate if attempt.is_owed else 0.0
        if attempt.usage.cost is not None:
            return attempt.usage.cost
        prices = self.prices or Prices(0.0, 0.0)
        return attempt.usage.input * prices.prompt + attempt.usage.output * prices.completion

    async def price_of_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSchema]) -> float:
        """Estimate what asking costs before a word is answered; files and cached prompts are not known here."""
        if self.prices is None:
            return 0.0
        characters = await offloaded(partial(_length_of_prompt, messages, tools), size=weight_of(messages, LARGE))
        return characters / CHARACTERS_PER_TOKEN * self.prices.prompt


def metered(client: ChatClient, budget: Budget | None, progress: Progress) -> ChatClient:
    """Have a client watch the budget, where there is one; without prices nothing can be seen before it is told."""
    if budget is None or budget.prices is None:
        return client
    return _Metered(client, budget, budget.prices, progress)


class _Meter(Struct):
    """What one streamed answer costs by now, about."""

    budget: Budget
    prices: Prices
    left: float
    estimate: float
    is_told: bool = False

    def count(self, parts: list[StreamPart]) -> None:
        """Add what these parts cost; raises BudgetReached."""
        if self.is_told:
            return
        self.estimate += sum(map(_characters_of, parts)) / CHARACTERS_PER_TOKEN * self.prices.completion
        self.budget.estimates[-1] = self.estimate
        # Then all is said, and paid for: what follows is the bill.
        self.is_told = any(type(part) is Finish for part in parts)
        if not self.is_told and self.estimate >= self.left:
            raise BudgetReached(has_begun=True)


class _Metered(Struct, frozen=True):
    """A ChatClient that leaves a stream as soon as the budget is reached; a whole answer cannot be left in between."""

    client: ChatClient
    budget: Budget
    prices: Prices
    progress: Progress

    async def stream(self, request: Request, emit: Emit[list[StreamPart]], on_head: OnHead | None = None) -> None:
        """Hand over what comes, and raise BudgetReached behind what reaches the limit, unless that was the end."""
        left = self.budget.limit - self.budget.spent(self.progress)
        meter = _Meter(self.budget, self.prices, left, await self._begin(request))

        def metered(parts: list[StreamPart]) -> None:
            emit(parts)
            meter.count(parts)

        await self.client.stream(request, metered, on_head)

    async def complete(self, request: Request, on_head: OnHead | None = None) -> list[StreamPart]:
        """Return a whole answer; what it costs is known when it is there."""
        estimate = await self._begin(request)
        parts = await self.client.complete(request, on_head)
        said = sum(map(_characters_of, parts)) / CHARACTERS_PER_TOKEN
        self.budget.estimates[-1] = estimate + said * self.prices.completion
        return parts

    async def _begin(self, request: Request) -> float:
        estimate = await self.budget.price_of_prompt(request.messages, request.tools)
        # One for each attempt, also where an earlier one never came so far as to ask.
        missing = len(self.progress.attempts) - 1 - len(self.budget.estimates)
        self.budget.estimates += [*[0.0] * missing, estimate]
        return estimate


def _characters_of(part: StreamPart) -> int:
    match part:
        case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
            return len(text)
        case CallDelta():
            return len(part.name or "") + len(part.arguments or "")
        case ImageDelta():
            return _IMAGE
        case _:
            return 0


def _length_of_prompt(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> int:
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
