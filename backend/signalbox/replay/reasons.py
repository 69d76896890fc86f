"""Known reasons for differences between the loops, each with a check that it applies (docs/replay.md)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from signalbox.core.codes import Code
from signalbox.replay.differences import KINDS, Difference, Kind
from signalbox.replay.outcome import Outcome

_EVERYTHING: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "contract")


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why the loops differ; `holds` checks the outcomes of legacy and V2, `kinds` are its effects."""

    name: str
    words: str
    kinds: Collection[Kind]
    holds: Callable[[Outcome, Outcome], bool]


def _broke_in_sight(legacy: Outcome, v2: Outcome) -> bool:
    """V2's last request failed behind something visible, and legacy's request for the same step failed as well."""
    last = v2.tried[-1] if v2.tried else None
    if last is None or not last.failed or v2.status not in ("error", "interrupted"):
        return False
    alike = [one for one in legacy.tried if one.step == last.step and one.failed and not one.streamed]
    return bool(alike) and bool(v2.text or v2.reasoning or v2.calls)


def _lost_frame(legacy: Outcome, v2: Outcome) -> bool:
    """V2 left a frame out; legacy's whole answer could not be read, and it has nothing."""
    unread = [one for one in legacy.tried if one.code == Code.UPSTREAM_PROTOCOL and not one.streamed]
    return str(Code.FRAME_UNREADABLE) in v2.warnings and bool(unread)


def _has_frames(legacy: Outcome, v2: Outcome) -> bool:
    told, whole = ([code for code in one.warnings if code != Code.FRAME_UNREADABLE] for one in (v2, legacy))
    return str(Code.FRAME_UNREADABLE) in v2.warnings and told == whole


def _malformed(legacy: Outcome, v2: Outcome) -> bool:
    """Both loops had a step of calls that its host calls malformed, at the same place."""
    mine, other = ({one.step for one in run.tried if one.malformed} for run in (legacy, v2))
    return bool(mine & other)


def _cut_step(legacy: Outcome, v2: Outcome) -> bool:
    """A call that V2 had run when its step was cut; legacy has dropped the same call."""
    dropped = {_key(call.name, call.step) for call in legacy.calls if call.code == Code.STEP_FAILED and not call.ran}
    return any(call.success and call.ran and _key(call.name, call.step) in dropped for call in v2.calls)


def _key(name: str, step: int) -> str:
    return f"{step} {name}"


def _grew(legacy: Outcome, v2: Outcome) -> bool:
    """V2 began a call that then grew: it was withdrawn, or had its result already (a whole `{}`, quirk A6)."""
    true = {_key(call.name, call.step) for call in legacy.calls if call.arguments}
    early = [call for call in v2.calls if call.ran and not call.arguments]
    withdrawn = any(call.code == Code.SUPERSEDED for call in v2.calls)
    return withdrawn or any(_key(call.name, call.step) in true for call in early)


def _spent(legacy: Outcome, v2: Outcome) -> bool:
    """V2 left an answer when its money was spent; legacy had that answer whole by then."""
    return v2.code == Code.BUDGET_REACHED and (legacy.status == "complete" or legacy.code == v2.code)


def _same_calls(legacy: Outcome, v2: Outcome) -> bool:
    """Told in another order, the tools' events are still the same ones."""
    return sorted(legacy.order) == sorted(v2.order)


REASONS: tuple[Reason, ...] = (
    Reason(
        "broke in sight",
        "V2 shows words and starts tools as they come, so a step that broke behind them ends the run with what there "
        "is. Legacy has shown nothing of a whole answer, and asks again.",
        _EVERYTHING,
        _broke_in_sight,
    ),
    Reason(
        "lost frame",
        "V2 leaves out a piece that it cannot read and goes on. For legacy the whole answer is lost.",
        _EVERYTHING,
        _lost_frame,
    ),
    Reason("frames", "Only a stream has frames: V2 tells that one could not be read.", ("warnings",), _has_frames),
    Reason(
        "malformed step",
        "Of a step whose calls cannot be read V2 has shown the text and begun what was whole. Legacy drops it all.",
        ("calls", "results", "text", "order"),
        _malformed,
    ),
    Reason(
        "cut step",
        "V2 had run whole calls when their step was cut, and keeps their results. Legacy drops them, and the model "
        "calls again.",
        ("calls", "results", "text", "reasoning", "steps", "order"),
        _cut_step,
    ),
    Reason(
        "early start",
        "V2 had started a call that then grew: the first is answered SUPERSEDED, or has its result already, and the "
        "true one runs.",
        ("calls", "results", "order"),
        _grew,
    ),
    Reason(
        "budget",
        "V2 leaves an answer as soon as the run's budget is spent. Legacy can only leave off before the next one.",
        _EVERYTHING,
        _spent,
    ),
    Reason(
        "order", "V2 starts tools while the model still speaks, so their events come earlier.", ("order",), _same_calls
    ),
)
_STOPPED = "The run of then was ended from outside, and the replay went on to its end."
_FROM_OUTSIDE = (Code.DETACHED_TIMEOUT, Code.RUN_TOO_LARGE, Code.SERVER_CRASH, Code.SERVER_SHUTDOWN)
_TORN = "It is asked without what came before it in its conversation."
_FOLLOWS = "It follows from the other differences: other requests cost otherwise."
_ANEW = "The model was asked anew: its words and calls need not be the same twice."
_BY_CHANCE: tuple[Kind, ...] = ("calls", "results", "text", "reasoning", "steps", "order", "cost")


def was_stopped(then: Outcome) -> dict[Kind, str]:
    """Return the reason for differences from a run that was stopped."""
    if then.status in ("cancelled", "unfinished") or then.code in _FROM_OUTSIDE:
        return dict.fromkeys(_EVERYTHING, _STOPPED)
    return {}


def was_torn() -> dict[Kind, str]:
    """Return the reason for differences from a run whose conversation is not available."""
    return dict.fromkeys(_EVERYTHING, _TORN)


def explained(
    found: Sequence[Difference],
    legacy: Outcome,
    v2: Outcome,
    *,
    known: Mapping[Kind, str] | None = None,
    by_chance: bool = False,
) -> list[Difference]:
    """Give each difference the reason that holds for it, where there is one.

    `known` are reasons of this one case, `by_chance` says that a model was asked anew.
    """
    is_pair = legacy.loop != v2.loop
    held = [reason for reason in REASONS if is_pair and reason.holds(legacy, v2)]
    told = [_explained(one, held, known or {}, by_chance=by_chance) for one in found]
    others_expected = bool(told) and all(one.is_expected for one in told if one.kind != "cost")
    is_other = len(told) > 1 or len(legacy.tried) != len(v2.tried)
    return [
        replace(one, why=_FOLLOWS) if one.kind == "cost" and not one.why and others_expected and is_other else one
        for one in told
    ]


def _explained(one: Difference, held: Sequence[Reason], known: Mapping[Kind, str], *, by_chance: bool) -> Difference:
    why = known.get(one.kind) or next((reason.words for reason in held if one.kind in reason.kinds), None)
    if why is None and by_chance and one.kind in _BY_CHANCE:
        why = _ANEW
    return replace(one, why=why)
