"""Turns of which faults and quirks consist: calls of the offered tools, then an answer from the results."""

from ..http.incoming import Incoming
from ..model.answer import compose, rounds
from ..model.intents import keywords
from ..model.next_turn import think
from ..model.plan import calculate_call, exchanges, filled, search_call, time_call
from ..model.turns import Call, Turn

PARAGRAPH = (
    "This is the beginning of an answer that may never be complete, because the model you chose simulates a "
    "fault. The text so far should stay on the page, marked as incomplete, and you should be able to try again. "
    "Nothing in it was looked up, and no tool was called for it."
)


def topic(incoming: Incoming) -> str:
    """Return the search words of the question."""
    return keywords(incoming.question)[:60].strip() or "signalbox"


def search(incoming: Incoming, query: str) -> Call:
    """Return a search, or a call of the first tool if no search is offered."""
    call = search_call(incoming, query)
    return call or (filled(incoming.tools[0], query) if incoming.tools else Call("search_web", {"query": query}))


def asking(incoming: Incoming, *calls: Call, text: str = "") -> Turn:
    """Return a turn with these calls."""
    return Turn(text, think(incoming, exchanges(incoming), list(calls)), calls)


def answer(incoming: Incoming) -> Turn:
    """Return the turn that answers from the results."""
    made = exchanges(incoming)
    return Turn(compose(incoming, made), think(incoming, made, []))


def is_first(incoming: Incoming) -> bool:
    """Return whether this is the first step of the loop, and tools may be called."""
    return incoming.may_call and rounds(incoming) == 0


def one_search(incoming: Incoming) -> list[Call]:
    """Return one search for the question."""
    return [search(incoming, topic(incoming))]


def two_tools(incoming: Incoming) -> list[Call]:
    """Return a search and a call of another tool, or two searches if no other tool is offered."""
    other = time_call(incoming, "Asia/Tokyo") or calculate_call(incoming, "6 * 7")
    return [*one_search(incoming), other or search(incoming, f"{topic(incoming)} 2")]


def two_searches(incoming: Incoming) -> list[Call]:
    """Return two different searches."""
    return [search(incoming, f"{topic(incoming)} {at}") for at in (1, 2)]
