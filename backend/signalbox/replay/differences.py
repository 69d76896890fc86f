"""Compares two runs of one question; a pure function that returns a list of differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from signalbox.core.messages import JsonValue
from signalbox.replay.outcome import Called, Outcome
from signalbox.wire.json_text import dumps

Kind = Literal[
    "ending", "code", "calls", "results", "text", "reasoning", "warnings", "steps", "cost", "order", "contract"
]
KINDS: tuple[Kind, ...] = (
    *("contract", "ending", "code", "calls", "results", "text", "warnings", "steps", "reasoning", "order", "cost"),
)

_AROUND = 30
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; `first` and `second` describe each run. `why` is set if the difference is expected."""

    kind: Kind
    first: str
    second: str
    why: str | None = None

    @property
    def is_expected(self) -> bool:
        """Whether the difference is explained."""
        return self.why is not None


def differences(first: Outcome, second: Outcome) -> list[Difference]:
    """Compare two outcomes, most important differences first, without explanations."""
    found = [_contract(first, second)]
    found += [_unlike(kind, first, second, read) for kind, read in _PLAIN]
    found += [_calls(first, second), _text("text", first.text, second.text)]
    found += [_text("reasoning", first.reasoning, second.reasoning)]
    told = [one for one in found if one is not None]
    return sorted(told, key=lambda one: KINDS.index(one.kind))


def _contract(first: Outcome, second: Outcome) -> Difference | None:
    """Report streams that violate the contract, also if both do so in the same way."""
    if first.fault is None and second.fault is None:
        return None
    return Difference("contract", first.fault or "sound", second.fault or "sound")


_PLAIN: tuple[tuple[Kind, Callable[[Outcome], str]], ...] = (
    ("ending", lambda one: one.status),
    ("code", lambda one: one.code or "none"),
    ("warnings", lambda one: ", ".join(one.warnings) or "none"),
    ("steps", lambda one: str(one.steps)),
    ("order", lambda one: ", ".join(one.order) or "none"),
    ("cost", lambda one: money(one.cost)),
)


def _unlike(kind: Kind, first: Outcome, second: Outcome, read: Callable[[Outcome], str]) -> Difference | None:
    one, other = read(first), read(second)
    return None if one == other else Difference(kind, one, other)


def money(cost: float | None) -> str:
    """Format an amount in USD."""
    return "unknown" if cost is None else f"${cost:.8f}".rstrip("0").rstrip(".")


def _calls(first: Outcome, second: Outcome) -> Difference | None:
    """Describe the first call that differs; if none does, the first result that differs."""
    place = _first_unlike(first.calls, second.calls, lambda call: (call.name, _json(call.arguments)))
    if place is not None:
        words = (_call_words(one.calls, place) for one in (first, second))
        return Difference("calls", *words)
    place = _first_unlike(
        first.calls, second.calls, lambda call: (call.success, call.code, call.cached, _json(call.result))
    )
    if place is None:
        return None
    return Difference("results", *(_result_words(one.calls, place) for one in (first, second)))


def _first_unlike(first: Sequence[Called], second: Sequence[Called], read: Callable[[Called], object]) -> int | None:
    for place in range(max(len(first), len(second))):
        if place >= min(len(first), len(second)) or read(first[place]) != read(second[place]):
            return place
    return None


def _call_words(calls: Sequence[Called], place: int) -> str:
    if place >= len(calls):
        return f"{len(calls)} in all"
    return f"{place + 1}. {call_in_words(calls[place])}"


def _result_words(calls: Sequence[Called], place: int) -> str:
    call = calls[place]
    return shortened(f"{place + 1}. {call.name}: {how_it_went(call)}: {_json(call.result)}")


def call_in_words(call: Called) -> str:
    """Format a call in one line: name and arguments."""
    return shortened(f"{call.name} {_json(call.arguments)}")


def how_it_went(call: Called) -> str:
    """Return how a call ended, in one word."""
    return ("cached" if call.cached else "ok") if call.success else (call.code or "no result")


def _text(kind: Kind, first: str, second: str) -> Difference | None:
    """Return excerpts of two texts around their first difference."""
    if first == second:
        return None
    place = next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
    return Difference(kind, _around(first, place), _around(second, place))


def _around(text: str, place: int) -> str:
    if not text:
        return "none"
    start = max(place - _AROUND, 0)
    piece = text[start : place + _AROUND]
    shown = f"{'…' if start else ''}{piece}{'…' if place + _AROUND < len(text) else ''}"
    return f"{len(text)} characters, from {place}: {_json(shown)}"


def _json(value: JsonValue) -> str:
    return dumps(value).decode()


def shortened(text: str) -> str:
    """Cut a long line."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
