"""Rate limits: exact sliding windows over request times, in bounded memory."""

import re
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from time import monotonic

# Times per client, and clients: bounds of the memory that rate limits use.
MOST_TIMES = 100_000
MOST_CLIENTS = 100_000
MOST_SECONDS = 10 * 366 * 86_400
# Providers assign each customer a whole /64 network.
_IPV6_PREFIX = 64
# The library reads 0 seconds as 1.
_NO_TIME = re.compile(r"(?:/|per)\s*0+(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `amount` in any `seconds`."""

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
    """Stores the times of the last questions of each client. Rejected questions do not count.

    A client is dropped when all of its times have expired, or when there are too many more recent clients.
    """

    allowed: tuple[Rate, ...]
    clock: Callable[[], float] = monotonic
    most_clients: int = MOST_CLIENTS
    _times: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict[str, deque[float]])
    _longest: float = field(init=False)
    _most: int = field(init=False)

    def __post_init__(self) -> None:
        """Compute how many times have to be stored for all rates, and for how long."""
        self._longest = max((rate.seconds for rate in self.allowed), default=0.0)
        self._most = max((rate.amount for rate in self.allowed), default=0)

    def count(self, client: str, now: float | None = None) -> float | None:
        """Count a question, or return the seconds until it is allowed."""
        now = self.clock() if now is None else now
        times = self._times.get(client, ())
        waits = [times[-rate.amount] + rate.seconds - now for rate in self.allowed if len(times) >= rate.amount]
        if waits and (wait := max(waits)) > 0:
            return wait
        if self.allowed:
            self._store(client, now)
        return None

    def uncount(self, client: str, at: float) -> None:
        """Subtract a question that was counted at this time and then rejected."""
        times = self._times.get(client, deque[float]())
        if at in times:
            times.remove(at)
            if not times:
                del self._times[client]

    def __len__(self) -> int:
        return len(self._times)

    def _store(self, client: str, now: float) -> None:
        times = self._times.setdefault(client, deque(maxlen=self._most))
        times.append(now)
        self._times.move_to_end(client)
        # Ordered by last question, so expired clients come first.
        while len(self._times) > self.most_clients or next(iter(self._times.values()))[-1] + self._longest <= now:
            self._times.popitem(last=False)


@lru_cache(maxsize=4096)
def address_of(host: str | None) -> str:
    """Return the key of a client without a token: its IPv4 address, or its IPv6 /64 network."""
    try:
        address = ip_address(host or "")
    except ValueError:
        return "address"  # a Unix socket, and tests
    if not isinstance(address, IPv6Address):
        return f"address {address}"
    if address.ipv4_mapped is not None:
        return f"address {address.ipv4_mapped}"
    return f"address {IPv6Address(int(address) >> (128 - _IPV6_PREFIX) << (128 - _IPV6_PREFIX))}"
