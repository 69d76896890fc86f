"""Lists the differences between two runs of the same request."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from signalbox.core.messages import JsonValue
from signalbox.replay.outcome import CallOutcome, Outcome
from signalbox.wire.json_text import dumps

Kind = Literal[
    "ending", "code", "calls", "results", "text", "reasoning", "warnings", "steps", "cost", "order", "contract"
]
KINDS: tuple[Kind, ...] = (
    *("contract", "ending", "code", "calls", "results", "text", "warnings", "steps", "reasoning", "order", "cost"),
)

# Characters: shown on each side of the first difference of two texts, and of one line.
_CONTEXT = 30
_MAX_LINE = 160


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; `first` and `second` describe the two runs, `why` is the reason if it is expected."""

    kind: Kind
    first: str
    second: str
    why: str | None = None

    @property
    def is_expected(self) -> bool:
        """Whether there is a reason for the difference."""
        return self.why is not None


def differences(first: Outcome, second: Outcome) -> list[Difference]:
    """Return the differences without reasons, the most important first."""
    found = [_contract(first, second)]
    found += [_value_difference(kind, first, second, value_of) for kind, value_of in _VALUES]
    found += [_calls(first, second), _text("text", first.text, second.text)]
    found += [_text("reasoning", first.reasoning, second.reasoning)]
    return sorted((one for one in found if one is not None), key=lambda one: KINDS.index(one.kind))


def _contract(first: Outcome, second: Outcome) -> Difference | None:
    """Return a difference if either stream violates the contract, even if both do so in the same way."""
    if first.fault is None and second.fault is None:
        return None
    return Difference("contract", first.fault or "sound", second.fault or "sound")


_VALUES: tuple[tuple[Kind, Callable[[Outcome], str]], ...] = (
    ("ending", lambda one: one.status),
    ("code", lambda one: one.code or "none"),
    ("warnings", lambda one: ", ".join(one.warnings) or "none"),
    ("steps", lambda one: str(one.steps)),
    ("order", lambda one: ", ".join(one.order) or "none"),
    ("cost", lambda one: format_cost(one.cost)),
)


def _value_difference(
    kind: Kind, first: Outcome, second: Outcome, value_of: Callable[[Outcome], str]
) -> Difference | None:
    one, other = value_of(first), value_of(second)
    return None if one == other else Difference(kind, one, other)


def format_cost(cost: float | None) -> str:
    """Format an amount in USD."""
    return "unknown" if cost is None else f"${cost:.8f}".rstrip("0").rstrip(".")


def _calls(first: Outcome, second: Outcome) -> Difference | None:
    """Describe the first call that differs; if all calls are equal, the first result that differs.

    The calls of a step are compared in any order: V2 announces eager calls first. The difference `order` has that.
    """
    pair = first.calls, second.calls
    if sorted(map(_by_step, pair[0])) == sorted(map(_by_step, pair[1])):
        pair = tuple(sorted(pair[0], key=_by_step)), tuple(sorted(pair[1], key=_by_step))
    place = _first_mismatch(*pair, lambda call: (call.name, _json(call.arguments)))
    if place is not None:
        return Difference("calls", *(_describe_call(calls, place) for calls in pair))
    place = _first_mismatch(*pair, lambda call: (call.success, call.code, call.cached, _json(call.result)))
    if place is None:
        return None
    return Difference("results", *(_describe_result(calls, place) for calls in pair))


def _by_step(call: CallOutcome) -> tuple[int, str, str]:
    return call.step, call.name, _json(call.arguments)


def _first_mismatch(
    first: Sequence[CallOutcome], second: Sequence[CallOutcome], key: Callable[[CallOutcome], object]
) -> int | None:
    for place in range(max(len(first), len(second))):
        if place >= min(len(first), len(second)) or key(first[place]) != key(second[place]):
            return place
    return None


def _describe_call(calls: Sequence[CallOutcome], place: int) -> str:
    if place >= len(calls):
        return f"{len(calls)} in all"
    return f"{place + 1}. {call_line(calls[place])}"


def _describe_result(calls: Sequence[CallOutcome], place: int) -> str:
    call = calls[place]
    return shortened(f"{place + 1}. {call.name}: {call_status(call)}: {_json(call.result)}")


def call_line(call: CallOutcome) -> str:
    """Format a call in one line: name and arguments."""
    return shortened(f"{call.name} {_json(call.arguments)}")


def call_status(call: CallOutcome) -> str:
    """Return `ok`, `cached`, the error code or `no result`."""
    return ("cached" if call.cached else "ok") if call.success else (call.code or "no result")


def _text(kind: Kind, first: str, second: str) -> Difference | None:
    """Return a difference with excerpts of both texts around the first character that differs."""
    if first == second:
        return None
    place = next(
        (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other),
        min(len(first), len(second)),
    )
    return Difference(kind, _excerpt(first, place), _excerpt(second, place))


def _excerpt(text: str, place: int) -> str:
    if not text:
        return "none"
    start = max(place - _CONTEXT, 0)
    shown = text[start : place + _CONTEXT]
    shown = f"{'…' if start else ''}{shown}{'…' if place + _CONTEXT < len(text) else ''}"
    return f"{len(text)} characters, from {place}: {_json(shown)}"


def _json(value: JsonValue) -> str:
    return dumps(value).decode()


def shortened(text: str) -> str:
    """Truncate a long line."""
    return text if len(text) <= _MAX_LINE else f"{text[: _MAX_LINE - 1]}…"
