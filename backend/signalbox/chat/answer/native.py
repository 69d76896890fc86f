"""Decides whether a model's turn may be sent back in the words of its API."""

from collections.abc import Sequence

from msgspec.structs import replace

from signalbox.core.messages import AssistantMessage, Message, Native, ToolCall
from signalbox.core.parts import ArgumentStatus, Completion, FinishReason, RawCall


def native_of(completion: Completion, calls: Sequence[ToolCall], upstream: str = "") -> Native | None:
    """Return the turn as its API sent it, or None if its calls or its text have been changed since.

    `upstream` is the name of the upstream that sent it. A turn without calls ends the tool loop, so it is not needed,
    unless it was paused: the model continues it.
    """
    native = completion.native
    is_over = not calls and completion.finish.reason is not FinishReason.PAUSED
    if native is None or is_over or completion.leaked or len(calls) != len(completion.calls):
        return None
    if not all(map(_is_unchanged, calls, completion.calls)):
        return None
    return replace(native, upstream=upstream) if upstream else native


def upstream_of(messages: Sequence[Message]) -> str:
    """Return the upstream that has sent the last turn of a tool loop, empty if it is not known."""
    names = [_sender_of(message) for message in messages if isinstance(message, AssistantMessage)]
    return next((name for name in reversed(names) if name), "")


def _sender_of(message: AssistantMessage) -> str:
    return message.upstream or (message.native.upstream if message.native is not None else "")


def _is_unchanged(call: ToolCall, written: RawCall) -> bool:
    """Return whether a call is executed exactly as the model wrote it."""
    if call.name != written.name or call.upstream_id != written.id or call.raw is not None:
        return False
    return call.arguments == (written.value if written.status is not ArgumentStatus.EMPTY else {})
