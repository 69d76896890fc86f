"""Why a model's turn ended: first by what it holds, then by the stop reason of the provider."""

from collections.abc import Collection
from enum import Enum

from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.parts import ArgumentStatus, Completion, FinishReason, Request

_MALFORMED = (FinishReason.MALFORMED_CALL, FinishReason.UNEXPECTED_CALL)
# None: no stop reason, but the end of the answer was marked; real providers end calls like that (recorded: Kimi K2).
_GOOD = (FinishReason.STOP, FinishReason.TOOL_CALLS, None)


class TurnEnd(Enum):
    """How a turn ended.

    `MALFORMED`: calls that cannot be read. `LEAKED`: calls in its text that cannot run. `LENGTH_BLANK`: cut before
    there was an answer. `PAUSED`, `UNKNOWN`: the provider stopped before the model was done, or gave an unknown stop
    reason (quirk A20). Only the calls of `CALLS` run.
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


def may_call(request: Request) -> bool:
    """Whether the model may call tools in answer to this request."""
    return bool(request.tools) and request.tool_choice != "none"


def fault_of(completion: Completion) -> UpstreamError | None:
    """Return why this answer counts as failed: it holds an error, or has no valid end (quirks E1, E2)."""
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
    """Return why an attempt failed, given the error while it was read.

    An error that the provider reported takes precedence over how the connection closed. A provider that has sent a stop
    reason has finished, however it closes the connection.
    """
    if broken is None or completion.fault is not None:
        return fault_of(completion)
    is_cut = broken.code in (Code.STREAM_CUT, Code.UPSTREAM_STALLED)
    has_finished = completion.finish.word is not None and completion.finish.reason is not FinishReason.FAILED
    return None if is_cut and has_finished else broken


def is_malformed(completion: Completion) -> bool:
    """Whether the provider reports that the model's calls cannot be read (quirk A13)."""
    return completion.finish.reason in _MALFORMED


def classify_turn(
    completion: Completion, *, has_calls: bool, may_call: bool = True, client_tools: Collection[str] = ()
) -> TurnEnd:
    """Classify a turn without a fault. Calls count if they are there, whatever the good stop reason (quirk A12).

    A cut call of the client's tools is `LENGTH`: the client sets the limit and makes the calls.
    """
    stop = completion.finish.reason
    if not may_call and stop is FinishReason.MALFORMED_CALL:
        return TurnEnd.BLANK  # its text is the rest of a call, not an answer
    if may_call and stop in _MALFORMED:
        return TurnEnd.MALFORMED
    if completion.refusal or stop is FinishReason.WITHHELD:
        return TurnEnd.REFUSAL
    if has_calls:
        return _end_of_calls(completion, stop, client_tools)
    has_content = completion.has_content
    # A pause may come before any text, while the provider runs a tool itself.
    if stop is FinishReason.PAUSED:
        return TurnEnd.PAUSED
    if has_content and stop is FinishReason.UNKNOWN:
        return TurnEnd.UNKNOWN
    if may_call and completion.leaked:
        return TurnEnd.LEAKED
    if stop is FinishReason.LENGTH:
        return TurnEnd.LENGTH if has_content else TurnEnd.LENGTH_BLANK
    return TurnEnd.ANSWER if has_content else TurnEnd.BLANK


def _end_of_calls(completion: Completion, stop: FinishReason | None, client_tools: Collection[str]) -> TurnEnd:
    if stop is FinishReason.LENGTH or _has_cut_call(completion):
        is_clients = any(call.name in client_tools for call in completion.calls)
        return TurnEnd.LENGTH if is_clients else TurnEnd.CUT_CALLS
    if stop in _GOOD:
        return TurnEnd.CALLS
    return TurnEnd.PAUSED if stop is FinishReason.PAUSED else TurnEnd.UNKNOWN


def _has_cut_call(completion: Completion) -> bool:
    return any(call.status is ArgumentStatus.TRUNCATED for call in completion.calls)
