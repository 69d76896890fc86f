"""The token counts of a message."""

from signalbox.core.messages import JsonObject, JsonValue
from signalbox.core.parts import Usage

# Larger counts are invalid; JavaScript cannot represent larger integers exactly.
_MOST = 2**53


def merged_usage(before: JsonObject, later: JsonObject) -> JsonObject:
    """Return the counts after a further report, which repeats only some of them; an absent count stays."""
    known = {name: value for name, value in later.items() if value is not None or name not in before}
    return {**before, **known}


def usage_of(raw: JsonObject) -> Usage:
    """Return the counts in neutral terms: the input includes the tokens that the cache read or wrote.

    The API counts these separately: `input_tokens` are only the tokens after the last cache mark.
    """
    cached = _count(raw, "cache_read_input_tokens")
    written = _count(raw, "cache_creation_input_tokens")
    return Usage(
        input=_count(raw, "input_tokens") + cached + written,
        output=_count(raw, "output_tokens"),
        reasoning=_count(raw.get("output_tokens_details"), "thinking_tokens"),
        cached=cached,
        cost=_cost(raw.get("cost")),
        cache_written=written,
    )


def _count(value: JsonValue, name: str) -> int:
    number = value.get(name) if isinstance(value, dict) else None
    return number if type(number) is int and 0 <= number < _MOST else 0


def _cost(value: JsonValue) -> float | None:
    """Return the cost that some proxies report (recorded: gateway-message-delta-metadata)."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST:
        return float(value)
    return None
