"""The retry policy: whether a model call is retried, and after which delay."""

from msgspec import Struct

from signalbox.chat.context import ConversationContext
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent

MAX_ATTEMPTS = 3
# Before a longer wait the run ends instead, and `retry_after` tells the client when to retry.
LONGEST_WAIT = 10.0
# A step that has waited this long for a stalled upstream is not retried: with the default OPENROUTER_TIMEOUT, each
# further attempt would take two more minutes.
LONGEST_SILENCE = 30.0
# The upstream or its provider did not answer in time; the next attempt may not either.
_SILENT = frozenset({Code.UPSTREAM_STALLED, Code.UPSTREAM_TIMEOUT})
_RETRYABLE = frozenset(
    {
        Code.RATE_LIMIT,
        Code.UPSTREAM_OVERLOADED,
        Code.UPSTREAM_ERROR,
        Code.UPSTREAM_UNREACHABLE,
        Code.UPSTREAM_PROTOCOL,
        Code.UPSTREAM_TIMEOUT,
        Code.UPSTREAM_STALLED,
        Code.STREAM_CUT,
    }
)


class Retry(Struct, frozen=True):
    """Another attempt follows after `wait` seconds; `warnings` say how its request is degraded."""

    wait: float
    warnings: tuple[AnyEvent, ...] = ()


def should_retry(
    context: ConversationContext, iteration: int, has_content: bool, error: Exception, waited: float = 0.0
) -> Retry | None:
    """Decide whether attempt number `iteration` (from 1) of a step is retried; None if not.

    `waited` is how many seconds the attempts so far took. Nothing is retried once anything is visible (text would be
    duplicated, quirk F2), nor if a retry cannot help (400 to 404, 413: quirk F5). A timeout is retried only if it was
    short, and a stall only once, because it has taken OPENROUTER_TIMEOUT already.
    """
    del context  # the caller checks what a retry may cost (`LoopState.plan_retry`)
    if has_content or iteration >= MAX_ATTEMPTS or not isinstance(error, UpstreamError):
        return None
    if error.code not in _RETRYABLE or not error.retryable:
        return None
    if error.code in _SILENT and waited >= LONGEST_SILENCE:
        return None
    if error.code is Code.UPSTREAM_STALLED and iteration > 1:
        return None
    wait = error.retry_after if error.retry_after is not None else 0.5 * 2 ** (iteration - 1)
    return Retry(wait) if wait <= LONGEST_WAIT else None
