"""The Protocols that stand between the loops and the world: what others implement."""

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol

from signalbox.core.events import Stamped
from signalbox.core.messages import JsonValue
from signalbox.core.parts import Request, StreamPart
from signalbox.core.tools import ToolContext, ToolOutcome, ToolSpec


class ChatClient(Protocol):
    """Asks a model once. It never retries; raises UpstreamError."""

    def stream(self, request: Request) -> AsyncGenerator[list[StreamPart], None]:
        """Yield one list of parts per network read; close it (aclose) to end the request at once."""
        ...

    async def complete(self, request: Request) -> list[StreamPart]:
        """Return the parts of one whole answer."""
        ...


class ToolRunner(Protocol):
    """Runs tools by name. Only cancellation ever leaves it as an exception."""

    def spec(self, name: str) -> ToolSpec | None:
        """Return what is known of a tool, None for a name that is not offered."""
        ...

    def check(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolOutcome | None:
        """Return what is wrong with these arguments, None when they fit the schema."""
        ...

    async def run(self, name: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> ToolOutcome:
        """Run one call that passed `check`, within its timeout."""
        ...


class RunStore(Protocol):
    """The journal: the ordered events of runs, append-only. Appending never waits."""

    def append(self, run_id: str, batch: list[Stamped]) -> None:
        """Add events at the end of a run's journal."""
        ...

    def read(self, run_id: str, after: int) -> list[Stamped]:
        """Return all events with seq > after."""
        ...

    def forget(self, run_id: str) -> None:
        """Drop a run's journal."""
        ...
