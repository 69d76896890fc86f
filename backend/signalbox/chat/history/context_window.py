"""Leaving out the oldest parts of a conversation that is longer than the model can read; a copy, never the history."""

from collections.abc import Sequence
from math import ceil

from msgspec.structs import replace

from signalbox.chat.history.tool_pairing import Exchange
from signalbox.core.messages import SystemMessage, ToolMessage, UserMessage

# How far it can go: old results, those of all earlier turns, half of the turns, three quarters, all but the open one,
# its last results in short.
MOST = 6
# So many images that the model drew are sent back: each may be some megabytes, and takes about IMAGE_TOKENS of the
# context (see `chat/budget.py`). They are the first to go, the newest of them at level 2.
_MOST_DRAWINGS = (4, 1)
ELIDED = "(This result was left out, as the conversation is too long. Call the tool again if it is needed.)"
_TURNS_KEPT = {3: 0.5, 4: 0.25, 5: 0.0, 6: 0.0}
_SHORT = 2_000


def most_drawings(level: int) -> int:
    """Return how many images of the model's own are sent at a level."""
    return _MOST_DRAWINGS[level] if level < len(_MOST_DRAWINGS) else 0


def trimmed(exchanges: Sequence[Exchange], level: int) -> list[Exchange]:
    """Return what is sent at a level from 0 (all) to MOST; instructions and the open question always are."""
    if level == 0:
        return [*exchanges]
    newest = max((at for at, exchange in enumerate(exchanges) if exchange.results), default=-1)
    asked = max((at for at, exchange in enumerate(exchanges) if isinstance(exchange.head, UserMessage)), default=-1)
    needed = newest if level == 1 or newest > asked else len(exchanges)
    kept = [_without_results(e) if at < needed else e for at, e in enumerate(exchanges)]
    if level == MOST and newest > asked:
        kept[newest] = _in_short(kept[newest])
    return _last_turns(kept, _TURNS_KEPT[level]) if level in _TURNS_KEPT else kept


def _without_results(exchange: Exchange) -> Exchange:
    return replace(exchange, results=tuple(_elided(result) for result in exchange.results))


def _elided(result: ToolMessage) -> ToolMessage:
    """Leave a result out, unless it is shorter than the words that would stand in its place."""
    if len(result.content) <= len(ELIDED):
        return result
    return replace(result, content=ELIDED, outside=False)


def _in_short(exchange: Exchange) -> Exchange:
    return replace(exchange, results=tuple(_shortened(result) for result in exchange.results))


def _shortened(result: ToolMessage) -> ToolMessage:
    if len(result.content) <= _SHORT:
        return result
    return replace(result, content=f"{result.content[:_SHORT]}\n(The rest was left out: it is too long to be read.)")


def _last_turns(exchanges: list[Exchange], share: float) -> list[Exchange]:
    """Keep the instructions at the beginning, and the last turns: this share of them, one at least."""
    begin = next((at for at, e in enumerate(exchanges) if not isinstance(e.head, SystemMessage)), len(exchanges))
    starts = [at for at, e in enumerate(exchanges) if at >= begin and isinstance(e.head, UserMessage)]
    if not starts:
        return exchanges
    first = starts[-max(1, ceil(len(starts) * share))]
    return exchanges[:begin] + exchanges[first:]
