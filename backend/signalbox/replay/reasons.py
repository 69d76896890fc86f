"""The known reasons for differences between two runs, each with a check that it applies (docs/replay.md)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from signalbox.core.codes import Code
from signalbox.replay.differences import KINDS, Difference, Kind
from signalbox.replay.outcome import Outcome

_EVERYTHING: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "contract")


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason why the loops differ; `kinds` are its effects, `holds` checks the outcomes of legacy and V2."""

    name: str
    words: str
    kinds: Collection[Kind]
    holds: Callable[[Outcome, Outcome], bool]


def _failed_after_output(legacy: Outcome, v2: Outcome) -> bool:
    """V2's last request failed after visible output, and legacy's request for the same step failed too."""
    last = v2.tried[-1] if v2.tried else None
    if last is None or not last.failed or v2.status not in ("error", "interrupted"):
        return False
    alike = [one for one in legacy.tried if one.step == last.step and one.failed and not one.streamed]
    return bool(alike) and bool(v2.text or v2.reasoning or v2.calls)


def _lost_frame(legacy: Outcome, v2: Outcome) -> bool:
    """V2 skipped a frame, and legacy could not parse a whole answer."""
    unread = [one for one in legacy.tried if one.code == Code.UPSTREAM_PROTOCOL and not one.streamed]
    return str(Code.FRAME_UNREADABLE) in v2.warnings and bool(unread)


def _warns_of_frame(legacy: Outcome, v2: Outcome) -> bool:
    """V2's warnings are legacy's, and FRAME_UNREADABLE."""
    streamed, whole = ([code for code in one.warnings if code != Code.FRAME_UNREADABLE] for one in (v2, legacy))
    return str(Code.FRAME_UNREADABLE) in v2.warnings and streamed == whole


def _malformed_step(legacy: Outcome, v2: Outcome) -> bool:
    """The provider reported malformed calls in the same step of both runs."""
    in_legacy, in_v2 = ({one.step for one in run.tried if one.malformed} for run in (legacy, v2))
    return bool(in_legacy & in_v2)


def _cut_step(legacy: Outcome, v2: Outcome) -> bool:
    """V2 had executed a call of a step that was cut off, and legacy dropped the same call."""
    dropped = {_key(call.name, call.step) for call in legacy.calls if call.code == Code.STEP_FAILED and not call.ran}
    return any(call.success and call.ran and _key(call.name, call.step) in dropped for call in v2.calls)


def _key(name: str, step: int) -> str:
    return f"{step} {name}"


def _early_start(legacy: Outcome, v2: Outcome) -> bool:
    """V2 started a call too early: it was superseded, or was executed with empty arguments (quirk A6)."""
    complete = {_key(call.name, call.step) for call in legacy.calls if call.arguments}
    early = [call for call in v2.calls if call.ran and not call.arguments]
    superseded = any(call.code == Code.SUPERSEDED for call in v2.calls)
    return superseded or any(_key(call.name, call.step) in complete for call in early)


def _budget_reached(legacy: Outcome, v2: Outcome) -> bool:
    """V2 stopped inside an answer when the budget was spent; legacy received that answer completely."""
    return v2.code == Code.BUDGET_REACHED and (legacy.status == "complete" or legacy.code == v2.code)


def _only_reordered(legacy: Outcome, v2: Outcome) -> bool:
    """The tool events of both runs are equal, except for their order."""
    return sorted(legacy.order) == sorted(v2.order)


REASONS: tuple[Reason, ...] = (
    Reason(
        "failed after output",
        "V2 shows text and starts tools while it streams, so it cannot retry a step that fails after that. Legacy had "
        "shown nothing of the step and retried it.",
        _EVERYTHING,
        _failed_after_output,
    ),
    Reason(
        "lost frame",
        "V2 skips a frame that it cannot read and continues. Legacy loses the whole answer.",
        _EVERYTHING,
        _lost_frame,
    ),
    Reason(
        "unreadable frame",
        "Only a stream has frames, so only V2 warns that one could not be read.",
        ("warnings",),
        _warns_of_frame,
    ),
    Reason(
        "malformed step",
        "The calls of a step could not be parsed. V2 had already shown the step's text and started its complete calls. "
        "Legacy drops the step.",
        ("calls", "results", "text", "order"),
        _malformed_step,
    ),
    Reason(
        "cut step",
        "V2 had executed complete calls before their step was cut off, and keeps their results. Legacy drops these "
        "calls, and the model repeats them.",
        ("calls", "results", "text", "reasoning", "steps", "order"),
        _cut_step,
    ),
    Reason(
        "early start",
        "V2 had started a call before its arguments were complete. That call has a result or ends with SUPERSEDED, and "
        "the complete call is executed after it.",
        ("calls", "results", "order"),
        _early_start,
    ),
    Reason(
        "budget",
        "V2 stops reading an answer once the run's budget is spent. Legacy can only stop before the next request.",
        _EVERYTHING,
        _budget_reached,
    ),
    Reason(
        "order",
        "V2 starts tools while the model still streams, so their events come earlier.",
        ("order",),
        _only_reordered,
    ),
)
_INTERRUPTED = "The original run was stopped before its end, and the replay ran to its end."
_OUTSIDE_CODES = (Code.DETACHED_TIMEOUT, Code.RUN_TOO_LARGE, Code.SERVER_CRASH, Code.SERVER_SHUTDOWN)
_NO_HISTORY = "The replay sent the request without the earlier messages of its conversation."
_OTHER_REQUESTS = "The runs sent different requests, as the other differences explain."
_CALLED_AGAIN = "The model was called again, so its words and calls may differ by chance."
_BY_CHANCE: tuple[Kind, ...] = ("calls", "results", "text", "reasoning", "steps", "order", "cost")


def interruption_reasons(original: Outcome) -> dict[Kind, str]:
    """Return the reason for every kind of difference if the original run was stopped or interrupted, else nothing."""
    if original.status in ("cancelled", "unfinished") or original.code in _OUTSIDE_CODES:
        return dict.fromkeys(_EVERYTHING, _INTERRUPTED)
    return {}


def missing_history_reasons() -> dict[Kind, str]:
    """Return the reason for every kind of difference from a run whose history is not available."""
    return dict.fromkeys(_EVERYTHING, _NO_HISTORY)


def explain(
    found: Sequence[Difference],
    legacy: Outcome,
    v2: Outcome,
    *,
    known: Mapping[Kind, str] | None = None,
    by_chance: bool = False,
) -> list[Difference]:
    """Return the differences with their reasons, as far as a reason applies.

    `known` are reasons of this case only. `by_chance`: the model was called again and may answer differently.
    """
    is_pair = legacy.loop != v2.loop
    held = [reason for reason in REASONS if is_pair and reason.holds(legacy, v2)]
    with_reasons = [_with_reason(one, held, known or {}, by_chance=by_chance) for one in found]
    others_expected = bool(with_reasons) and all(one.is_expected for one in with_reasons if one.kind != "cost")
    sent_others = len(with_reasons) > 1 or len(legacy.tried) != len(v2.tried)
    return [
        replace(one, why=_OTHER_REQUESTS)
        if one.kind == "cost" and not one.why and others_expected and sent_others
        else one
        for one in with_reasons
    ]


def _with_reason(one: Difference, held: Sequence[Reason], known: Mapping[Kind, str], *, by_chance: bool) -> Difference:
    why = known.get(one.kind) or next((reason.words for reason in held if one.kind in reason.kinds), None)
    if why is None and by_chance and one.kind in _BY_CHANCE:
        why = _CALLED_AGAIN
    return replace(one, why=why)
