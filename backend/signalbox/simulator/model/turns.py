"""The content of one step of the simulated model, before it is encoded for a family."""

from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

Finish = Literal["stop", "tool_calls", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `raw` replaces the JSON of the arguments, to make them invalid."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: str | None = None

    def written(self, *, compact: bool) -> str:
        """Return the arguments as JSON, as the family writes it."""
        if self.raw is not None:
            return self.raw
        if compact:
            return orjson.dumps(self.arguments).decode()
        pairs = (f'"{key}": {orjson.dumps(value).decode()}' for key, value in self.arguments.items())
        return "{" + ", ".join(pairs) + "}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of the model: reasoning, text, images, calls."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str = ""
    images: tuple[str, ...] = ()
    finish: Finish | None = None

    @property
    def finish_reason(self) -> Finish:
        """Return `finish`, or the finish reason that follows from the content."""
        if self.finish is not None:
            return self.finish
        return "tool_calls" if self.calls else "stop"
