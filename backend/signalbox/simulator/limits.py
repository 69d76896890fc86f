"""Truncates a turn by the request's stop sequences and max_tokens, as a provider does."""

from dataclasses import dataclass, replace

from .model.turns import Call, Turn

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class LimitedTurn:
    """A truncated turn, and whether max_tokens truncated it."""

    turn: Turn
    hit_cap: bool = False
    stopped_by: str = ""
    """The stop sequence that truncated the text."""


def apply_limits(
    turn: Turn, max_tokens: int | None, stops: tuple[str, ...], *, compact: bool, family: str
) -> LimitedTurn:
    """Apply the stop sequences, then max_tokens, which reasoning uses up first, then text, then calls."""
    found = [(turn.text.find(stop), stop) for stop in stops if stop]
    at, stopped_by = min((one for one in found if one[0] >= 0), default=(-1, ""))
    if at >= 0:
        turn = replace(turn, text=turn.text[:at], calls=(), finish="stop")
    if max_tokens is None:
        return LimitedTurn(turn, hit_cap=turn.finish == "length", stopped_by=stopped_by)
    limited = _cap(turn, max_tokens * CHARACTERS_PER_TOKEN, compact=compact, family=family)
    return limited if limited.hit_cap else replace(limited, stopped_by=stopped_by)


def _cap(turn: Turn, limit: int, *, compact: bool, family: str) -> LimitedTurn:
    reasoning, remaining = turn.reasoning[:limit], limit - len(turn.reasoning)
    text, remaining = turn.text[: max(remaining, 0)], remaining - len(turn.text)
    calls: list[Call] = []
    for call in turn.calls:
        if remaining <= 0:
            break
        raw = call.written(compact=compact)
        calls.append(call if len(raw) <= remaining else replace(call, raw=raw[:remaining]))
        remaining -= len(raw)
    if remaining >= 0:
        return LimitedTurn(turn, hit_cap=turn.finish == "length")
    # For OpenAI, OpenRouter sends `tool_calls` for a truncated call; only the native reason differs.
    finish = "tool_calls" if calls and family == "openai" else "length"
    return LimitedTurn(replace(turn, reasoning=reasoning, text=text, calls=tuple(calls), finish=finish), hit_cap=True)
