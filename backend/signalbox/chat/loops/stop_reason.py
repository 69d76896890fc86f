"""How a model's answer ended: by what it holds first, by what the host says of it second."""

from enum import Enum

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import ArgumentStatus, Completion, FinishReason

_MALFORMED = (FinishReason.MALFORMED_CALL, FinishReason.UNEXPECTED_CALL)
# None: no word, but the end of the answer was marked; real hosts end whole calls like that (a recording of Kimi K2).
_GOOD = (FinishReason.STOP, FinishReason.TOOL_CALLS, None)


class TurnEnd(Enum):
    """What a turn was.

    `MALFORMED`: calls that cannot be read. `LEAKED`: calls in its text that cannot be run. `LENGTH_BLANK`: cut before
    there was an answer. `PAUSED`, `UNKNOWN`: the provider stopped before the model was done, or did not say why it
    stopped in a word that is known (quirk A20). Only the calls of `CALLS` run.
    """

    ANSWER = "answer"
    BLANK = "blank"
    CALLS = "calls"
    CUT_CALLS = "cut_calls"
    LENGTH = "length"
    LENGTH_BLANK = "length_blank"
    LEAKED = "leaked"
    MALFORMED = "malformed"
    PAUSED = "paused"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"


def fault_of(completion: Completion) -> UpstreamError | None:
    """Return why this answer counts as failed: an error in it, or an end that is none (quirks E1, E2)."""
    if is_malformed(completion):
        return None
    if completion.fault is not None:
        return completion.fault.error
    if completion.finish.reason is FinishReason.FAILED:
        return UpstreamError(Code.UPSTREAM_ERROR)
    has_content = completion.content or completion.calls or completion.refusal or completion.images
    if completion.finish.word is None and not (completion.ended and has_content):
        return UpstreamError(Code.STREAM_CUT)
    return None


def failure_of(completion: Completion, broken: UpstreamError | None) -> UpstreamError | None:
    """Return why an attempt failed, given what broke while it was read.

    An error that the host told goes before the way in which it hung up; and a host that has said why it finished has
    finished, however it hangs up.
    """
    if broken is None or completion.fault is not None:
        return fault_of(completion)
    is_cut = broken.code in (Code.STREAM_CUT, Code.UPSTREAM_STALLED)
    has_finished = completion.finish.word is not None and completion.finish.reason is not FinishReason.FAILED
    return None if is_cut and has_finished else broken


def is_malformed(completion: Completion) -> bool:
    """Whether the host says that the model's calls cannot be read (quirk A13)."""
    return completion.finish.reason in _MALFORMED


def classify_turn(completion: Completion, *, has_calls: bool, may_call: bool = True) -> TurnEnd:
    """Judge a turn without a fault. A good ending has calls when they are there, whatever its word (quirk A12)."""
    stop = completion.finish.reason
    if not may_call and stop is FinishReason.MALFORMED_CALL:
        return TurnEnd.BLANK  # its text is the rest of a call; there is no answer in it
    if may_call and stop in _MALFORMED:
        return TurnEnd.MALFORMED
    if completion.refusal or stop is FinishReason.WITHHELD:
        return TurnEnd.REFUSAL
    if has_calls:
        return _end_of_calls(completion, stop)
    has_content = completion.has_content
    if has_content and stop is FinishReason.PAUSED:
        return TurnEnd.PAUSED
    if has_content and stop is FinishReason.UNKNOWN:
        return TurnEnd.UNKNOWN
    if may_call and completion.leaked:
        return TurnEnd.LEAKED
    if stop is FinishReason.LENGTH:
        return TurnEnd.LENGTH if has_content else TurnEnd.LENGTH_BLANK
    return TurnEnd.ANSWER if has_content else TurnEnd.BLANK


def _end_of_calls(completion: Completion, stop: FinishReason | None) -> TurnEnd:
    if stop is FinishReason.LENGTH or _has_cut_call(completion):
        return TurnEnd.CUT_CALLS
    if stop in _GOOD:
        return TurnEnd.CALLS
    return TurnEnd.PAUSED if stop is FinishReason.PAUSED else TurnEnd.UNKNOWN


def _has_cut_call(completion: Completion) -> bool:
    return any(call.status is ArgumentStatus.TRUNCATED for call in completion.calls)
