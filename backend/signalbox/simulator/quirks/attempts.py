"""Counts the attempts at each step, for transient quirks."""

from dataclasses import dataclass, field, replace
from typing import Any

from ..http.incoming import Incoming, text_of
from ..json_values import as_object

MAX_ENTRIES = 500
Key = tuple[str, str, int]
Limits = tuple[int, str]


@dataclass(slots=True)
class Attempts:
    """Counts requests by model, first question and number of results, which are equal in repeated steps."""

    seen: dict[Key, tuple[int, Limits]] = field(default_factory=dict[Key, tuple[int, Limits]])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    """The shortest question by first line; a longer one has results as text after it."""

    def count(self, incoming: Incoming) -> Incoming:
        """Return the request with the number of its attempt; a correction after the question starts no new step."""
        first = next((text_of(message) for message in incoming.messages if message.get("role") == "user"), "")
        results = sum(1 for message in incoming.messages if message.get("role") == "tool")
        line = first.strip().partition("\n")[0][:200]
        key = (incoming.model, line, results)
        shortest = self.sizes[line] = min(len(first), self.sizes.get(line, len(first)))
        before, limits = self.seen.pop(key, (0, (0, "")))
        now = _limits(incoming)
        self.seen[key] = (before + 1, now)
        _bound(self.seen)
        _bound(self.sizes)
        has_raised_limit = before > 0 and (
            now[0] > limits[0] or (now[1] != limits[1] and now[1] in ("low", "minimal", "none"))
        )
        return replace(
            incoming, attempt=before + 1, has_raised_limit=has_raised_limit, has_text_results=len(first) > shortest
        )


def _bound(entries: dict[Any, Any]) -> None:
    while len(entries) > MAX_ENTRIES:
        del entries[next(iter(entries))]


def _limits(incoming: Incoming) -> Limits:
    settings = as_object(incoming.body.get("reasoning"))
    effort = "none" if settings.get("enabled") is False else str(settings.get("effort") or "")
    return incoming.max_tokens or 0, effort
