"""Applies the limits of a request: max_tokens and stop sequences cut a turn as a provider would."""

from dataclasses import dataclass, replace

from .model.turns import Call, Turn

CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class LimitedTurn:
    """A turn after its limits, and whether max_tokens cut it."""

    turn: Turn
    hit_cap: bool = False


def apply_limits(
    turn: Turn, max_tokens: int | None, stops: tuple[str, ...], *, compact: bool, family: str
) -> LimitedTurn:
    """Apply the stop sequences, then max_tokens: to reasoning first, then text, then calls."""
    at = min((found for stop in stops if stop and (found := turn.text.find(stop)) >= 0), default=-1)
    if at >= 0:
        turn = replace(turn, text=turn.text[:at], calls=(), finish="stop")
    if max_tokens is None:
        return LimitedTurn(turn, hit_cap=turn.finish == "length")
    return _cap(turn, max_tokens * CHARACTERS_A_TOKEN, compact=compact, family=family)


def _cap(turn: Turn, room: int, *, compact: bool, family: str) -> LimitedTurn:
    reasoning, room_left = turn.reasoning[:room], room - len(turn.reasoning)
    text, room_left = turn.text[: max(room_left, 0)], room_left - len(turn.text)
    calls: list[Call] = []
    for call in turn.calls:
        if room_left <= 0:
            break
        raw = call.written(compact=compact)
        calls.append(call if len(raw) <= room_left else replace(call, raw=raw[:room_left]))
        room_left -= len(raw)
    if room_left >= 0:
        return LimitedTurn(turn, hit_cap=turn.finish == "length")
    # OpenAI through OpenRouter says `tool_calls` for a call that was cut; only the native reason tells.
    finish = "tool_calls" if calls and family == "openai" else "length"
    return LimitedTurn(replace(turn, reasoning=reasoning, text=text, calls=tuple(calls), finish=finish), hit_cap=True)
