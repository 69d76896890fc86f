"""What a run does when its upstream cannot answer: it calls the next upstream of its route, with the same model."""

from signalbox.chat.context import ConversationContext
from signalbox.chat.params import dropped_params
from signalbox.core.codes import CODES, Code
from signalbox.core.errors import UpstreamError
from signalbox.core.events import AnyEvent, Warning
from signalbox.core.ports import RunRoute

# Another upstream may answer the same request. It would reject an invalid one, too.
_CODES = frozenset(
    {
        Code.UPSTREAM_UNREACHABLE,
        Code.UPSTREAM_TIMEOUT,
        Code.UPSTREAM_STALLED,
        Code.UPSTREAM_OVERLOADED,
        Code.UPSTREAM_ERROR,
        Code.UPSTREAM_PROTOCOL,
        Code.STREAM_CUT,
        Code.RATE_LIMIT,
        Code.UPSTREAM_CREDITS,
        Code.UPSTREAM_AUTH,
        Code.UPSTREAM_NOT_FOUND,
    }
)


def first_upstream(context: ConversationContext, route: RunRoute) -> list[AnyEvent]:
    """Use the first upstream of the route that is expected to answer; return a warning if others were skipped."""
    skipped = route.skip_failing()
    if not skipped:
        return []
    context.observer.upstreams_skipped(skipped)
    names = ", ".join(f'"{name}"' for name in skipped)
    return _use_current(context, route, f"{names} {'has' if len(skipped) == 1 else 'have'} failed repeatedly")


def fall_back(context: ConversationContext, route: RunRoute, error: UpstreamError) -> list[AnyEvent] | None:
    """Use the next upstream of the route, and return the warnings to emit; None if this error or the route has none.

    The warning has our sentence, not the upstream's message, which may contain anything.
    """
    failed = context.destination.upstream
    if error.code not in _CODES or not route.fall_back():
        return None
    return _use_current(context, route, f'"{failed}" failed ({CODES[error.code].sentence.removesuffix(".")})')


def _use_current(context: ConversationContext, route: RunRoute, why: str) -> list[AnyEvent]:
    """Send further requests to the current upstream of the route; warn of parameters that only this one lacks."""
    dropped = {*dropped_params(context)}
    context.use_destination(route.current)
    if context.budget is not None and (prices := route.current.prices_by_model(context.model)):
        context.budget.use_prices(prices)
    words = f'The upstream {why}, so the same model is called at "{route.current.upstream}".'
    return [Warning(words, Code.UPSTREAM_FALLBACK), *dropped_warning(context, dropped)]


def dropped_warning(context: ConversationContext, known: set[str] | None = None) -> list[AnyEvent]:
    """Return a warning with the parameters that are not sent as requested, except the `known` ones."""
    names = [name for name in dropped_params(context) if name not in (known or ())]
    if not names:
        return []
    words = f"Not sent as requested because the provider would reject it: {', '.join(names)}."
    return [Warning(words, Code.PARAM_DROPPED)]
