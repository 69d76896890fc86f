"""The errors of runs that a budget refuses: which one, how much is left, when to try again."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from signalbox.core.codes import Code
from signalbox.core.errors import RequestError
from signalbox.store.spend.accounts import ACTIVE, usd
from signalbox.store.spend.reservations import Refused

_RETRY_SECONDS = 2.0


def budget_refusal(refused: Refused, now: float) -> RequestError:
    """Return the error of a run that a limit of its token or group refuses."""
    group = refused.account.removeprefix("group:") if refused.account.startswith("group:") else None
    whose = f"of the group {group!r}" if group is not None else "of this token"
    if refused.period == ACTIVE:
        words = f"Too many runs are active: the limit {whose} is {refused.limit}."
        return RequestError(Code.TOO_MANY_RUNS, words, status=429, retry_after=_RETRY_SECONDS)
    is_day = len(refused.period) == len("2026-11-28")
    of_budget = f"The {'daily' if is_day else 'monthly'} budget {whose} of {_money(refused.limit)}"
    used = f"{_money(refused.spent)} is spent"
    if refused.reserved > 0:
        used += f" and {_money(refused.reserved)} is reserved by active runs"
    words = f"{of_budget} has too little left for this run, which needs at least {_money(_rounded_up(refused.need))}"
    if refused.is_temporary:
        words = f"{words}, until active runs end: {used}."
        return RequestError(Code.BUDGET_EXHAUSTED, words, retry_after=_RETRY_SECONDS)
    words = f"{words}: {used}. It begins anew on {_end(is_day, now)} at 00:00 UTC."
    return RequestError(Code.BUDGET_EXHAUSTED, words)


def without_price(model: str, upstreams: Sequence[str]) -> RequestError:
    """Return the error of a run whose cost can never be known, although a budget applies."""
    names = " and ".join(f'"{name}"' for name in upstreams if name)
    where = f"The upstream {names}" if names else "The upstream"
    words = f"A budget applies, but {where[0].lower()}{where[1:]} reports no costs, and the price of {model[:100]!r} "
    words += "is not known. Choose another model, or ask the operator to add its price to upstreams.toml."
    return RequestError(Code.INVALID_REQUEST, words, "model")


def _end(is_day: bool, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC)
    if is_day:
        return f"{today + timedelta(days=1):%Y-%m-%d}"
    return f"{today.replace(day=1) + timedelta(days=32):%Y-%m}-01"


def _rounded_up(amount: int) -> int:
    """Return an amount in whole millionths of a USD, so that no run seems to need nothing."""
    return -(-amount // 1000) * 1000


def _money(amount: int) -> str:
    return f"${usd(amount):,.6f}".rstrip("0").rstrip(".")
