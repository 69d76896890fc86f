"""Settlements: when bills are fetched and retried, when they are given up, and what is stored."""

import asyncio
from collections.abc import Callable

import pytest
from signalbox.chat.loops.progress import Attempt, Progress
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.messages import UserMessage
from signalbox.core.parts import Bill, Completion, Request, Served, Usage
from signalbox.runs.billing import WAITS, Settlements
from structlog.testing import capture_logs

pytestmark = pytest.mark.anyio

TOLD = Usage(input=10, output=5, cost=0.001)
LATER = Usage(input=20, output=7, cost=0.02)
NOT_YET = UpstreamError(Code.UPSTREAM_NOT_FOUND)


class Bills:
    """A BillSource with scripted answers, the last one repeated; it records the requests."""

    def __init__(self, *answers: Bill | Exception | None, gate: asyncio.Event | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.gate, self.at_once, self.most = gate, 0, 0

    async def bill(self, generation_id: str, upstream: str) -> Bill | None:
        self.asked.append(generation_id)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await (self.gate.wait() if self.gate else asyncio.sleep(0))
        finally:
            self.at_once -= 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Waits(list[float]):
    """A sleep that returns at once and records the delays."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
        await asyncio.sleep(0)


def owing(*generations: str | None, told: Usage | None = None) -> Progress:
    """Return an ended run with one stopped attempt per generation; the first one may have reported its usage."""
    progress = Progress(clock=lambda: 0.0)
    for number, generation in enumerate(generations):
        attempt = progress.begin_attempt(Request("openai/sim", (UserMessage("Hello!"),)), 1, final=False)
        usage = told if number == 0 else None
        attempt.finish(Completion(served=Served(generation), usage=usage), 1.0, None)
    return progress


async def turns() -> None:
    """Let every task continue until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)


async def settled(progress: Progress, bills: Bills, **settings: object) -> tuple[Progress, Waits]:
    """Settle a run completely."""
    waits = Waits()
    settlements = Settlements(bills, clock=lambda: 99.0, sleep=waits, **settings)  # type: ignore[arg-type]
    settlements.begin("run", progress)
    await asyncio.wait_for(settlements.wait(), 5)
    return progress, waits


async def test_a_late_bill_is_fetched_with_backoff() -> None:
    """OpenRouter knows a generation only after some seconds: 404 and an empty record both mean wait."""
    bills = Bills(NOT_YET, None, UpstreamError(Code.UPSTREAM_OVERLOADED), Bill(LATER))
    progress, waits = await settled(owing("gen-1"), bills)
    assert bills.asked == ["gen-1"] * 4
    assert waits == list(WAITS[:4])
    assert (progress.usage, progress.is_estimate, progress.settled_at) == (LATER, False, 99.0)


async def test_reported_costs_are_not_fetched() -> None:
    """Only attempts that reported no usage are fetched, each once."""
    bills = Bills(Bill(LATER))
    progress, waits = await settled(owing("gen-told", "gen-2", "gen-3", told=TOLD), bills)
    assert bills.asked == ["gen-2", "gen-3"]
    assert waits == [0.5]
    assert progress.usage == TOLD + LATER + LATER
    assert [attempt.settled for attempt in progress.attempts] == [False, True, True]


async def test_a_bill_that_never_comes_is_given_up() -> None:
    """After two minutes the cost of the run stays an estimate."""
    progress, waits = await settled(owing("gen-1"), Bills(NOT_YET))
    assert waits == list(WAITS)
    assert (progress.usage, progress.is_estimate, progress.settled_at) == (None, True, None)


async def test_a_final_error_is_not_retried() -> None:
    """A key that may not fetch bills is tried once; the other attempt is still settled."""
    bills = Bills(UpstreamError(Code.UPSTREAM_AUTH), NOT_YET, Bill(LATER))
    progress, _ = await settled(owing("gen-1", "gen-2"), bills)
    assert bills.asked == ["gen-1", "gen-2", "gen-2"]
    assert [attempt.settled for attempt in progress.attempts] == [False, True]
    assert (progress.is_estimate, progress.settled_at) == (True, None)


async def test_retry_after_is_respected() -> None:
    """Retry-After is respected, up to a minute."""
    bills = Bills(
        UpstreamError(Code.RATE_LIMIT, retry_after=7.0), UpstreamError(Code.RATE_LIMIT, retry_after=900.0), Bill(LATER)
    )
    _, waits = await settled(owing("gen-1"), bills)
    assert waits == [0.5, 7.0, 60.0]


@pytest.mark.parametrize(
    "progress", [owing("gen-1", told=TOLD), owing(None), Progress()], ids=["told", "no id", "none"]
)
async def test_nothing_is_fetched_without_an_open_generation(progress: Progress) -> None:
    """A run that reported all costs, or has no generation id, starts no settlement."""
    bills = Bills(Bill(LATER))
    _, waits = await settled(progress, bills)
    assert (bills.asked, waits) == ([], [])


async def test_settlements_are_limited() -> None:
    """Many stops at once neither overload the upstream nor take unlimited memory."""
    gate = asyncio.Event()
    bills = Bills(Bill(LATER), gate=gate)
    settlements = Settlements(bills, sleep=Waits(), max_runs=6)
    runs = [owing("gen-1") for _ in range(9)]
    for progress in runs:
        settlements.begin("run", progress)
    await turns()
    assert bills.most == 4
    gate.set()
    await asyncio.wait_for(settlements.wait(), 5)
    assert len(bills.asked) == 6
    assert [progress.is_estimate for progress in runs] == [False] * 6 + [True] * 3


async def test_closing_ends_settlements_wherever_they_are() -> None:
    """A settlement that waits and one that fetches both end, no task is left, and none starts afterwards."""
    before = asyncio.all_tasks()
    bills = Bills(Bill(LATER), gate=asyncio.Event())
    asking, waiting = owing("gen-1"), owing("gen-2")
    settlements = Settlements(bills, sleep=Waits())
    settlements.begin("asking", asking)
    await turns()
    assert bills.asked == ["gen-1"]
    settlements.sleep = asyncio.sleep
    settlements.begin("waiting", waiting)
    await turns()
    assert len(asyncio.all_tasks() - before) == 2
    await asyncio.wait_for(settlements.aclose(), 5)
    settlements.begin("late", owing("gen-3"))
    assert asyncio.all_tasks() == before
    assert bills.asked == ["gen-1"]
    assert asking.is_estimate
    assert waiting.is_estimate


async def test_the_log_has_codes_and_figures_only() -> None:
    """The log contains neither the upstream's sentence nor that of an internal error (quirk G4)."""
    refusals: list[Callable[[], Exception]] = [
        lambda: UpstreamError(Code.UPSTREAM_AUTH, "canary-sentence"),
        lambda: ValueError("canary-sentence"),
    ]
    with capture_logs() as lines:
        for refusal in refusals:
            await settled(owing("gen-1"), Bills(refusal()))
        await settled(owing("gen-1"), Bills(Bill(LATER)))
    assert "canary" not in str(lines)
    assert [(line["event"], line.get("settled"), line.get("code"), line.get("cost")) for line in lines] == [
        ("settlement.finished", False, "UPSTREAM_AUTH", None),
        ("settlement.failed", None, None, None),
        ("settlement.finished", False, None, None),
        ("settlement.finished", True, None, 0.02),
    ]


async def test_a_bill_that_times_out_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request for a bill has a short timeout, and its slot is released."""
    monkeypatch.setattr("signalbox.runs.billing._FETCH_SECONDS", 0.0)
    bills = Bills(Bill(LATER), gate=asyncio.Event())
    progress, waits = await settled(owing("gen-1"), bills)
    assert waits == list(WAITS)
    assert progress.is_estimate
    assert bills.at_once == 0


def test_an_active_attempt_is_not_settled() -> None:
    """Only ended attempts can be settled."""
    attempt = Attempt(1, 1, False, "m", [], None, 1, [], 0.0, generation_id="gen-1")
    assert not attempt.is_cost_unknown
