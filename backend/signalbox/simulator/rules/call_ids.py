"""Rules of call ids: their format, and that each is used once (quirks A15, A16)."""

import re
from collections import Counter

from ..http.incoming import Incoming, calls_of
from .provider_errors import Rule, provider_error


def ids_match(pattern: str, text: str, code: str = "") -> Rule:
    """Return the rule that call ids match a pattern (quirk A16)."""

    def rule(incoming: Incoming) -> None:
        for message in incoming.messages:
            for call in calls_of(message):
                if not re.fullmatch(pattern, call["id"]):
                    raise provider_error(incoming, text.format(id=call["id"]), code)

    return rule


def ids_are_unique(incoming: Incoming) -> None:
    """A conversation uses each call id once (quirk A15)."""
    ids = Counter(call["id"] for message in incoming.messages for call in calls_of(message))
    if any(count > 1 for count in ids.values()):
        raise provider_error(incoming, "messages: `tool_use` ids must be unique")
