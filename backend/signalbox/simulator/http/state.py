"""The state of the simulator: received requests, served answers, open streams."""

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import State

from .generations import polls_before, settled

MAX_ENTRIES = 200
STORED_HEADERS = (
    "http-referer",
    "x-title",
    "x-openrouter-title",
    "x-openrouter-metadata",
    "user-agent",
    "content-type",
)


@dataclass(slots=True)
class Received:
    """One received request and how it ended; the Authorization value is not stored."""

    path: str
    body: Any
    headers: dict[str, str]
    authorized: bool
    status: int | None = None
    generation_id: str | None = None
    closed_early: bool | None = None
    """None while it is being answered; True if the client disconnected before the end."""


@dataclass(slots=True)
class SimulatorState:
    """Bounded state, shared with tests in another thread; every change notifies `changed`."""

    requests: list[Received] = field(default_factory=list[Received])
    generations: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    unfinished: set[str] = field(default_factory=set[str])
    """Generations whose answers are being sent, so that their cost is not final."""
    polls_left: dict[str, int] = field(default_factory=dict[str, int])
    """The number of further requests for a finished generation that return a 404."""
    dropped_usage: float = 0.0
    """The cost of dropped generations, because an account's usage never decreases."""
    open_streams: int = 0
    served: int = 0
    pages: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    """How many pages were written for a question; the oldest questions are forgotten."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    app_state: State = field(default_factory=State)
    """The app's state, which has `open_streams` too."""

    def receive(self, received: Received) -> None:
        """Record a request."""
        self.requests.append(received)
        del self.requests[:-MAX_ENTRIES]
        self.notify()

    def count_page(self, asked: Hashable) -> int:
        """Count a page, and return how many were written for this question before."""
        before = self.pages.pop(asked, 0)
        self.pages[asked] = before + 1
        if len(self.pages) > MAX_ENTRIES:
            del self.pages[next(iter(self.pages))]
        return before

    def serve(self, generation: dict[str, Any]) -> None:
        """Record a new generation with the cost of the complete answer."""
        self.generations[generation["id"]] = generation
        self.unfinished.add(generation["id"])
        if len(self.generations) > MAX_ENTRIES:
            self._drop(next(iter(self.generations)))

    def _drop(self, generation_id: str) -> None:
        dropped = self.generations.pop(generation_id)
        if generation_id in self.unfinished:
            self.unfinished.discard(generation_id)
        else:
            self.dropped_usage += dropped["usage"]
        self.polls_left.pop(generation_id, None)

    def settle(self, generation_id: str | None, share: float = 1.0, *, early: bool = False) -> None:
        """Record the cost of a generation by the share that was sent; only the first call counts."""
        if generation_id is None or generation_id not in self.unfinished:
            return
        self.unfinished.discard(generation_id)
        entry = settled(self.generations[generation_id], share, early=early)
        self.generations[generation_id] = entry
        self.polls_left[generation_id] = polls_before(entry["model"])
        self.notify()

    def poll(self, generation_id: str) -> dict[str, Any] | None:
        """Return a generation if it has finished and its delay is over."""
        if generation_id not in self.generations or generation_id in self.unfinished:
            return None
        if self.polls_left.get(generation_id, 0) > 0:
            self.polls_left[generation_id] -= 1
            return None
        return self.generations[generation_id]

    @property
    def spent(self) -> float:
        """Return the total cost of finished generations."""
        stored = sum(entry["usage"] for name, entry in self.generations.items() if name not in self.unfinished)
        return self.dropped_usage + stored

    def opened(self) -> None:
        """Count a stream that starts."""
        self.open_streams += 1
        self.notify()

    def closed(self, received: Received, *, early: bool) -> None:
        """Count a stream that ended; `early`: the client disconnected."""
        self.open_streams -= 1
        received.closed_early = early
        self.notify()

    def notify(self) -> None:
        """Wake the threads that wait for a change."""
        self.app_state.open_streams = self.open_streams
        with self.changed:
            self.changed.notify_all()
