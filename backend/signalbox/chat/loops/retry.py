"""The one retry policy: when a model call may be made again, and after how long."""

from msgspec import Struct

from signalbox.chat.context import ConversationContext
from signalbox.core.codes import Code
from signalbox.core.errors import UpstreamError

MAX_ATTEMPTS = 3
# A longer wait than this is told to the reader (`retry_after`) instead of spent in silence.
LONGEST_WAIT = 10.0
# A step that has already waited this long for an upstream that fell silent is not sent again: at the default
# OPENROUTER_TIMEOUT each further attempt would take two more minutes.
LONGEST_SILENCE = 30.0
# The upstream, or its host, gave no answer within its time; nothing says that the next attempt would.
_SILENT = frozenset({Code.UPSTREAM_STALLED, Code.UPSTREAM_TIMEOUT})
_AGAIN = frozenset(
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
    """Ask again after `wait` seconds."""

    wait: float


def should_retry(
    context: ConversationContext, iteration: int, has_content: bool, error: Exception, waited: float = 0.0
) -> Retry | None:
    """Decide whether attempt number `iteration` (from 1) of a step may be followed by another; None: it may not.

    `waited` is how many seconds the attempts so far took. Never after anything visible (text would be doubled, quirk
    F2), and never for what asking again cannot mend (400 to 404, 413: quirk F5). A timeout is retried only where it
    was short, and a stall only once: it has used up OPENROUTER_TIMEOUT already.
    """
    del context  # the caller checks what a retry may cost (`LoopState.again`)
    if has_content or iteration >= MAX_ATTEMPTS or not isinstance(error, UpstreamError):
        return None
    if error.code not in _AGAIN or not error.retryable:
        return None
    if error.code in _SILENT and waited >= LONGEST_SILENCE:
        return None
    if error.code is Code.UPSTREAM_STALLED and iteration > 1:
        return None
    wait = error.retry_after if error.retry_after is not None else 0.5 * 2 ** (iteration - 1)
    return Retry(wait) if wait <= LONGEST_WAIT else None
