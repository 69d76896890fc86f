"""What the simulator remembers: what it received, what it served, which streams are open."""

import threading
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import State

KEPT = 200
KEPT_HEADERS = ("http-referer", "x-title", "x-openrouter-title", "x-openrouter-metadata", "user-agent", "content-type")


@dataclass(slots=True)
class Received:
    """One request as it came in and how it ended; the Authorization value is never kept."""

    path: str
    body: Any
    headers: dict[str, str]
    authorized: bool
    status: int | None = None
    generation_id: str | None = None
    closed_early: bool | None = None
    """None while it is answered; True when the client left before the end."""


@dataclass(slots=True)
class Memory:
    """Bounded, shared with tests that run in another thread; every change wakes `changed`."""

    requests: list[Received] = field(default_factory=list[Received])
    generations: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    open_streams: int = 0
    served: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    app_state: State = field(default_factory=State)
    """Where `open_streams` is shown as well."""

    def receive(self, received: Received) -> None:
        """Note a request."""
        self.requests.append(received)
        del self.requests[:-KEPT]
        self.tell()

    def serve(self, generation: dict[str, Any]) -> None:
        """Note what /generation tells."""
        self.generations[generation["id"]] = generation
        if len(self.generations) > KEPT:
            del self.generations[next(iter(self.generations))]

    def opened(self) -> None:
        """Count a stream that begins."""
        self.open_streams += 1
        self.tell()

    def closed(self, received: Received, *, early: bool) -> None:
        """Count a stream that has ended, and how."""
        self.open_streams -= 1
        received.closed_early = early
        self.tell()

    def tell(self) -> None:
        """Wake whoever waits for a change."""
        self.app_state.open_streams = self.open_streams
        with self.changed:
            self.changed.notify_all()
