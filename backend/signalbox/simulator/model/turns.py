"""What the simulated model says in one step, before any family's accent is put on it."""

from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

Finish = Literal["stop", "tool_calls", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; `raw` overrides how the arguments are written (for broken ones)."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: str | None = None

    def written(self, *, compact: bool) -> str:
        """Write the arguments the way the family writes JSON."""
        if self.raw is not None:
            return self.raw
        if compact:
            return orjson.dumps(self.arguments).decode()
        pairs = (f'"{key}": {orjson.dumps(value).decode()}' for key, value in self.arguments.items())
        return "{" + ", ".join(pairs) + "}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model: reasoning, then text, then images, then calls."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str = ""
    images: tuple[str, ...] = ()
    finish: Finish | None = None

    @property
    def finish_reason(self) -> Finish:
        """Return the finish reason, which follows from the content unless it was set."""
        if self.finish is not None:
            return self.finish
        return "tool_calls" if self.calls else "stop"
