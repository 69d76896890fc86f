"""Missing and blank answers, calls where none are allowed, and repeated searches (D)."""

from collections.abc import Callable

from ..families import Family
from ..faults.steps import answer, asking, is_first, one_search, search, topic, two_tools
from ..http.incoming import Incoming
from ..model.answer import rounds
from ..model.turns import Call, Turn
from .quirk import MakeTurn, Quirk

DISCLAIMER = "I cannot browse the internet, so I cannot look that up. My knowledge may be out of date."


def _while_allowed(then: Callable[[Incoming], Turn]) -> MakeTurn:
    """Search with other words in every step while calls are allowed, then return the turn of `then`."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        call = search(incoming, f"{topic(incoming)} {rounds(incoming) + 1}")
        return asking(incoming, call) if incoming.may_call else then(incoming)

    return turn


def _after_one_search(then: Callable[[Incoming], Turn]) -> MakeTurn:
    """Search in the first step, then return the turn of `then`, even if calls are still allowed."""

    def turn(incoming: Incoming, family: Family) -> Turn:
        return asking(incoming, *one_search(incoming)) if is_first(incoming) else then(incoming)

    return turn


def _empty(incoming: Incoming) -> Turn:
    return Turn()


def _blank(incoming: Incoming) -> Turn:
    return Turn(" \n\n ")


def _call_anyway(text: str) -> Callable[[Incoming], Turn]:
    return lambda incoming: asking(incoming, search(incoming, f"{topic(incoming)} once more"), text=text)


def _disclaimer(incoming: Incoming) -> Turn:
    return Turn(DISCLAIMER)


WORDINGS: tuple[Callable[[list[str]], str], ...] = (
    " ".join,
    lambda words: " ".join(reversed(words)),
    lambda words: f'"{" ".join(words)}"',
    lambda words: "  ".join(words).upper(),
    lambda words: " ".join([*words[1:], *words[:1]]),
    lambda words: f"'{words[0].title()}' {' '.join(words[1:])} ",
)


def _same_search(incoming: Incoming, family: Family) -> Turn:
    """Repeat the search with another word order, other quotes and other case."""
    if not incoming.may_call:
        return answer(incoming)
    wording = WORDINGS[rounds(incoming) % len(WORDINGS)]
    return asking(incoming, search(incoming, wording(topic(incoming).split())))


def _text_before_calls(incoming: Incoming, family: Family) -> Turn:
    """Write a sentence before the calls of two steps."""
    done = rounds(incoming)
    if not incoming.may_call or done >= 2:
        return answer(incoming)
    call: Call = two_tools(incoming)[done]
    return asking(incoming, call, text=("First I look for it. ", "Then I look at something else. ")[done])


QUIRKS: dict[str, Quirk] = {
    "d02": Quirk(turn=_while_allowed(_empty)),
    "d02-once": Quirk(turn=_while_allowed(_empty), transient=True, after=_while_allowed(answer)),
    "d02-blank": Quirk(turn=_while_allowed(_blank)),
    "d02-early": Quirk(turn=_after_one_search(_empty)),
    "d02-early-once": Quirk(turn=_after_one_search(_empty), transient=True, after=_after_one_search(answer)),
    "d03": Quirk(turn=_while_allowed(_call_anyway("This is what I have so far. "))),
    "d03-bare": Quirk(turn=_while_allowed(_call_anyway(""))),
    "d04": Quirk(turn=_same_search),
    "d05": Quirk(turn=_while_allowed(answer)),
    "d06": Quirk(turn=_text_before_calls),
    "d07": Quirk(turn=_after_one_search(_disclaimer), transient=True, after=_after_one_search(answer)),
    "d07-always": Quirk(turn=_after_one_search(_disclaimer)),
}
