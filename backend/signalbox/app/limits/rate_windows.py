"""Rate limits: moving windows over the times of requests, exact and of bounded size."""

import re
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from time import monotonic

# So many times are kept of one asker, and so many askers: what limits others must not grow with them.
MOST_TIMES = 100_000
MOST_ASKERS = 100_000
MOST_SECONDS = 10 * 366 * 86_400
# Providers assign each customer a whole network, with more addresses in it than anyone could count.
_IPV6_PREFIX = 64
# The library takes 0 seconds for 1.
_NO_TIME = re.compile(r"(?:/|per)\s*0+(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in so many seconds."""

    amount: int
    seconds: float


def read_rates(words: str) -> tuple[Rate, ...]:
    """Read `60/minute; 1000/day`, in the notation of the library limits; raises ValueError with a sentence."""
    from limits import RateLimitItem, parse_many  # 50 modules, and only a limit that is set needs them

    try:
        items: list[RateLimitItem] = parse_many(words)
    except ValueError:
        raise ValueError("takes a rate like 60/minute, or several with commas: 10/minute, 200/day") from None
    are_bounded = all(1 <= item.amount <= MOST_TIMES and item.get_expiry() <= MOST_SECONDS for item in items)
    if not are_bounded or _NO_TIME.search(words):
        raise ValueError(f"takes between 1 and {MOST_TIMES} questions in a time from a second to ten years")
    return tuple(Rate(item.amount, float(item.get_expiry())) for item in items)


@dataclass(slots=True)
class Rates:
    """Holds the times of the last questions of each asker; one that is refused does not count.

    An asker is forgotten with the last of his times, or when there are too many others since.
    """

    allowed: tuple[Rate, ...]
    clock: Callable[[], float] = monotonic
    most_askers: int = MOST_ASKERS
    _times: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict[str, deque[float]])
    _longest: float = field(init=False)
    _most: int = field(init=False)

    def __post_init__(self) -> None:
        """See how long, and how many, times have to be kept for all rates."""
        self._longest = max((rate.seconds for rate in self.allowed), default=0.0)
        self._most = max((rate.amount for rate in self.allowed), default=0)

    def ask(self, asker: str, now: float | None = None) -> float | None:
        """Count one question, or return after how many seconds it may be asked."""
        now = self.clock() if now is None else now
        times = self._times.get(asker, ())
        waits = [times[-rate.amount] + rate.seconds - now for rate in self.allowed if len(times) >= rate.amount]
        if waits and (wait := max(waits)) > 0:
            return wait
        if self.allowed:
            self._count(asker, now)
        return None

    def give_back(self, asker: str, at: float) -> None:
        """Forget a question that was counted at this time: it was refused after all."""
        times = self._times.get(asker, deque[float]())
        if at in times:
            times.remove(at)
            if not times:
                del self._times[asker]

    def __len__(self) -> int:
        return len(self._times)

    def _count(self, asker: str, now: float) -> None:
        times = self._times.setdefault(asker, deque(maxlen=self._most))
        times.append(now)
        self._times.move_to_end(asker)
        # In the order of their last questions: those that no window holds any more are in front.
        while len(self._times) > self.most_askers or next(iter(self._times.values()))[-1] + self._longest <= now:
            self._times.popitem(last=False)


@lru_cache(maxsize=4096)
def address_of(host: str | None) -> str:
    """Name an asker by his address: of IPv6 by his network, or he would have any number of them."""
    try:
        address = ip_address(host or "")
    except ValueError:
        return "address"  # a socket of this machine, and tests
    if not isinstance(address, IPv6Address):
        return f"address {address}"
    if address.ipv4_mapped is not None:
        return f"address {address.ipv4_mapped}"
    return f"address {IPv6Address(int(address) >> (128 - _IPV6_PREFIX) << (128 - _IPV6_PREFIX))}"
