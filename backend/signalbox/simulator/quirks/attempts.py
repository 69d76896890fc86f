"""How often the same was asked: what a quirk that passes has to remember."""

from dataclasses import dataclass, field, replace
from typing import Any

from ..http.incoming import Incoming, text_of
from ..json_values import as_object

MAX_ENTRIES = 500
Key = tuple[str, str, int]
Room = tuple[int, str]


@dataclass(slots=True)
class Attempts:
    """Counts requests by model, first question and number of results, which stay the same when a step is repeated."""

    seen: dict[Key, tuple[int, Room]] = field(default_factory=dict[Key, tuple[int, Room]])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """The shortest length that a question with this first line had: in words, results stand behind it."""

    def count(self, incoming: Incoming) -> Incoming:
        """Return the request with its number; a correction behind the question makes no new one of it."""
        first = next((text_of(message) for message in incoming.messages if message.get("role") == "user"), "")
        results = sum(1 for message in incoming.messages if message.get("role") == "tool")
        line = first.strip().partition("\n")[0][:200]
        key = (incoming.model, line, results)
        shortest = self.sizes[line] = min(len(first), self.sizes.get(line, len(first)))
        before, room = self.seen.pop(key, (0, (0, "")))
        now = _room(incoming)
        self.seen[key] = (before + 1, now)
        _bound(self.seen)
        _bound(self.sizes)
        has_raised_limit = before > 0 and (
            now[0] > room[0] or (now[1] != room[1] and now[1] in ("low", "minimal", "none"))
        )
        return replace(
            incoming, attempt=before + 1, has_raised_limit=has_raised_limit, has_text_results=len(first) > shortest
        )


def _bound(kept: dict[Any, Any]) -> None:
    while len(kept) > MAX_ENTRIES:
        del kept[next(iter(kept))]


def _room(incoming: Incoming) -> Room:
    settings = as_object(incoming.body.get("reasoning"))
    effort = "none" if settings.get("enabled") is False else str(settings.get("effort") or "")
    return incoming.max_tokens or 0, effort
