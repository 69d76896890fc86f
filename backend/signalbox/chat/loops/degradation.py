"""What a run may give up when a host refuses its request, so that the same question can be asked again, changed.

Each remedy is used once in a run (leaving out more and more of the conversation: up to `trim.MOST` times), and only
where nothing of the step is visible yet.
"""

from collections.abc import Callable

from signalbox.chat.context import ConversationContext
from signalbox.chat.history.context_window import MOST
from signalbox.chat.history.repair import history_for
from signalbox.chat.params import pinned_host
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Warning
from signalbox.core.messages import AssistantMessage
from signalbox.core.parts import Request

# Fewer tokens than this hold no answer worth its price.
_USEFUL_TOKENS = 200
# The host counts the prompt a little differently each time (openclaude#1263 clamps with a margin).
_MARGIN = 0.95
_NO_DRAWINGS = "The provider rejected the images of earlier answers, so they were left out."

Remedy = Callable[[ConversationContext, Request, UpstreamError], list[AnyEvent] | None]


def remedy(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Change what this run will ask, and return what to tell of it; None when nothing helps against this error."""
    told = _drop_drawings(context, request, error) if error.about_images else None
    if told is None and (known := _REMEDIES.get(error.code)):
        told = known(context, request, error)
    return told if told is not None else _leave_host(context, request, error)


def _trim(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Leave out the oldest results, then the oldest turns, until the request is another one."""
    if context.degradation.raised_limit is not None:  # hosts count the room for the answer as well
        context.degradation.raised_limit = None
        return []
    before, first = history_for(context), context.degradation.truncation == 0
    while context.degradation.truncation < MOST:
        context.degradation.truncation += 1
        if history_for(context) != before:
            return [_warning(Code.CONTEXT_TRIMMED)] if first else []
    return None


def _clamp(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Ask for no more tokens than the account can pay (quirk F3): once, for each try would be refused the same way."""
    if error.affordable is None or context.degradation.affordable_tokens is not None:
        return None
    most = int(error.affordable * _MARGIN)
    if most < _USEFUL_TOKENS:
        return None
    context.degradation.affordable_tokens = most
    words = f"{CODES[Code.CREDIT_CLAMP].sentence} It can have up to {most:,} tokens."
    return [Warning(words, Code.CREDIT_CLAMP)]


def _drop_tools(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Answer without tools where the model's hosts take none (quirk C2)."""
    if not request.tools:
        return None
    context.degradation.no_tools = True
    return [_warning(Code.TOOLS_DROPPED)]


def _drop_images(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    if not context.sees_images:
        return None
    context.degradation.no_images = True
    return [_warning(Code.CONTENT_DROPPED)]


def _drop_drawings(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Ask without the images of earlier answers: the user has not sent them, and cannot take them back."""
    if context.degradation.no_generated_images or not context.sees_images:
        return None
    before = history_for(context)
    context.degradation.no_generated_images = True
    return [Warning(_NO_DRAWINGS, Code.CONTENT_DROPPED)] if history_for(context) != before else None


def _flatten(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Tell the tool loop in words, without calls and signatures: the one form that every host takes (B2, B4)."""
    if context.degradation.flatten_calls:
        return None
    context.degradation.flatten_calls = True
    return []


def _finish_in_words(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Finalize without tools where a host refuses tools that may not be called (quirk C3)."""
    if request.tool_choice != "none" or not request.tools:
        return None
    context.degradation.no_tools = True
    return []


def _leave_host(context: ConversationContext, request: Request, error: UpstreamError) -> list[AnyEvent] | None:
    """Let another host go on when the one that signed the reasoning fails: without what it has signed (quirk B2)."""
    may_route = error.retryable or error.code is Code.UPSTREAM_NOT_FOUND
    is_bound = may_route and pinned_host(context, request.messages) is not None
    return _flatten(context, request, error) if is_bound or _is_fallback_lost(context, request, error) else None


def _is_fallback_lost(context: ConversationContext, request: Request, error: UpstreamError) -> bool:
    """Whether the caller's fallback, to which OpenRouter went on, may have refused another model's reasoning (B4)."""
    if error.code is not Code.UPSTREAM_REJECTED or not context.base_params.fallbacks:
        return False
    return any(isinstance(message, AssistantMessage) and message.reasoning_details for message in request.messages)


def _warning(code: Code) -> Warning:
    return Warning(CODES[code].sentence, code)


_REMEDIES: dict[Code, Remedy] = {
    Code.CONTEXT_LENGTH_EXCEEDED: _trim,
    Code.UPSTREAM_CREDITS: _clamp,
    Code.UPSTREAM_NO_TOOLS: _drop_tools,
    Code.UPSTREAM_NO_IMAGES: _drop_images,
    Code.UPSTREAM_SIGNATURE: _flatten,
    Code.UPSTREAM_REJECTED: _finish_in_words,
}
