"""What a run gives up when a provider rejects its request, so that a changed request can succeed.

Each fallback is used once in a run, except truncation: the conversation is truncated up to MAX_LEVEL times.
"""

from collections.abc import Callable

from signalbox.chat.context import ConversationContext
from signalbox.chat.history.context_window import MAX_LEVEL
from signalbox.chat.history.repair import history_for
from signalbox.chat.params import pinned_provider
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Warning
from signalbox.core.messages import AssistantMessage
from signalbox.core.parts import Request

# Fewer tokens than this hold no useful answer.
_USEFUL_TOKENS = 200
# The provider's count of the prompt varies a little between requests (openclaude#1263 clamps with a margin).
_MARGIN = 0.95
_NO_GENERATED_IMAGES = "The provider rejected the images of earlier answers, so they were left out."

Fallback = Callable[[ConversationContext, Request, UpstreamError], list[AnyEvent] | None]


def degrade(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Degrade the next request and return the warnings to emit; None if no fallback helps against this error."""
    warnings = _drop_generated_images(context, request, error) if error.about_images else None
    if warnings is None and (fallback := _FALLBACKS.get(error.code)):
        warnings = fallback(context, request, error)
    return warnings if warnings is not None else _leave_provider(context, request, error)


def _truncate(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Truncate the conversation until the request changes: first the oldest results, then the oldest turns."""
    if context.degradation.raised_limit is not None:  # providers count the tokens reserved for the answer too
        context.degradation.raised_limit = None
        return []
    before, first = history_for(context), context.degradation.truncation == 0
    while context.degradation.truncation < MAX_LEVEL:
        context.degradation.truncation += 1
        if history_for(context) != before:
            return [_warning(Code.CONTEXT_TRIMMED)] if first else []
    return None


def _clamp_tokens(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Request no more tokens than the account can pay for (quirk F3); once, because a retry would fail the same way."""
    if error.affordable is None or context.degradation.affordable_tokens is not None:
        return None
    most = int(error.affordable * _MARGIN)
    if most < _USEFUL_TOKENS:
        return None
    context.degradation.affordable_tokens = most
    words = f"{CODES[Code.CREDIT_CLAMP].sentence} It can have up to {most:,} tokens."
    return [Warning(words, Code.CREDIT_CLAMP)]


def _drop_tools(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Offer no tools if no provider of the model accepts them (quirk C2)."""
    if not request.tools:
        return None
    context.degradation.no_tools = True
    return [_warning(Code.TOOLS_DROPPED)]


def _drop_images(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    if not context.sees_images:
        return None
    context.degradation.no_images = True
    return [_warning(Code.CONTENT_DROPPED)]


def _drop_generated_images(
    context: ConversationContext, request: Request, error: UpstreamError
) -> list[AnyEvent] | None:
    """Leave out the images of earlier answers: the user did not send them, and cannot remove them."""
    if context.degradation.no_generated_images or not context.sees_images:
        return None
    before = history_for(context)
    context.degradation.no_generated_images = True
    return [Warning(_NO_GENERATED_IMAGES, Code.CONTENT_DROPPED)] if history_for(context) != before else None


def _flatten(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Send earlier calls as text, without signatures: the only form that every provider accepts (quirks B2, B4)."""
    if context.degradation.flatten_calls:
        return None
    context.degradation.flatten_calls = True
    return []


def _finalize_without_tools(
    context: ConversationContext, request: Request, error: UpstreamError
) -> list[AnyEvent] | None:
    """Finalize without tools if a provider rejects tools that may not be called (quirk C3)."""
    if request.tool_choice != "none" or not request.tools:
        return None
    context.degradation.no_tools = True
    return []


def _leave_provider(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Let another provider continue if the one that signed the reasoning fails: drop what it signed (quirk B2)."""
    may_route = error.retryable or error.code is Code.UPSTREAM_NOT_FOUND
    is_bound = may_route and pinned_provider(context, request.messages) is not None
    return _flatten(context, request, error) if is_bound or _is_fallback_lost(context, request, error) else None


def _is_fallback_lost(context: ConversationContext, request: Request, error: UpstreamError) -> bool:
    """Whether a fallback model of the caller may have rejected another model's reasoning (quirk B4)."""
    if error.code is not Code.UPSTREAM_REJECTED or not context.base_params.fallbacks:
        return False
    return any(isinstance(message, AssistantMessage) and message.reasoning_details for message in request.messages)


def _warning(code: Code) -> Warning:
    return Warning(CODES[code].sentence, code)


_FALLBACKS: dict[Code, Fallback] = {
    Code.CONTEXT_LENGTH_EXCEEDED: _truncate,
    Code.UPSTREAM_CREDITS: _clamp_tokens,
    Code.UPSTREAM_NO_TOOLS: _drop_tools,
    Code.UPSTREAM_NO_IMAGES: _drop_images,
    Code.UPSTREAM_SIGNATURE: _flatten,
    Code.UPSTREAM_REJECTED: _finalize_without_tools,
}
