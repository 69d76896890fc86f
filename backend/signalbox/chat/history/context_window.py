"""Truncates a conversation that exceeds the model's context window; a copy, never the history."""

from collections.abc import Sequence
from math import ceil

from msgspec.structs import replace

from signalbox.chat.history.tool_pairing import Exchange
from signalbox.core.messages import SystemMessage, ToolMessage, UserMessage

# The highest level. The levels leave out more and more: old results, the results of all earlier turns, half of the
# turns, three quarters of the turns, all turns but the open one, and finally the rest of its newest long results.
MAX_LEVEL = 6
# The number of generated images that are sent back, by level. Each may have some megabytes, and takes about
# IMAGE_TOKENS of the context (see `chat/budget.py`). They are left out first; from level 2 on, none is sent.
_GENERATED_IMAGES = (4, 1)
ELIDED = "(This result was left out, as the conversation is too long. Call the tool again if it is needed.)"
_SHARE_OF_TURNS = {3: 0.5, 4: 0.25, 5: 0.0, 6: 0.0}
_SHORT = 2_000


def max_generated_images(level: int) -> int:
    """Return how many generated images are sent at a level."""
    return _GENERATED_IMAGES[level] if level < len(_GENERATED_IMAGES) else 0


def truncated(exchanges: Sequence[Exchange], level: int) -> list[Exchange]:
    """Return what is sent at a level from 0 (all) to MAX_LEVEL, always with the instructions and the open question."""
    if level == 0:
        return [*exchanges]
    newest = max((at for at, exchange in enumerate(exchanges) if exchange.results), default=-1)
    asked = max((at for at, exchange in enumerate(exchanges) if isinstance(exchange.head, UserMessage)), default=-1)
    needed = newest if level == 1 or newest > asked else len(exchanges)
    out = [_without_results(e) if at < needed else e for at, e in enumerate(exchanges)]
    if level == MAX_LEVEL and newest > asked:
        out[newest] = _with_short_results(out[newest])
    return _last_turns(out, _SHARE_OF_TURNS[level]) if level in _SHARE_OF_TURNS else out


def _without_results(exchange: Exchange) -> Exchange:
    return replace(exchange, results=tuple(_elided(result) for result in exchange.results))


def _elided(result: ToolMessage) -> ToolMessage:
    """Replace a result with a placeholder, unless the result is shorter."""
    if len(result.content) <= len(ELIDED):
        return result
    return replace(result, content=ELIDED, untrusted=False)


def _with_short_results(exchange: Exchange) -> Exchange:
    return replace(exchange, results=tuple(_shortened(result) for result in exchange.results))


def _shortened(result: ToolMessage) -> ToolMessage:
    if len(result.content) <= _SHORT:
        return result
    return replace(result, content=f"{result.content[:_SHORT]}\n(The rest was left out: it is too long to be read.)")


def _last_turns(exchanges: list[Exchange], share: float) -> list[Exchange]:
    """Keep the leading instructions and this share of the turns, the last ones and at least one."""
    begin = next((at for at, e in enumerate(exchanges) if not isinstance(e.head, SystemMessage)), len(exchanges))
    starts = [at for at, e in enumerate(exchanges) if at >= begin and isinstance(e.head, UserMessage)]
    if not starts:
        return exchanges
    first = starts[-max(1, ceil(len(starts) * share))]
    return exchanges[:begin] + exchanges[first:]
