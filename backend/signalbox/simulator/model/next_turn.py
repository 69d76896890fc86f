"""Decides the next turn of the simulated model."""

import orjson

from ..families import Family
from ..http.incoming import Incoming
from ..json_values import as_object
from ..pages.flow import page_turn
from .answer import compose, is_answered, rounds
from .notes import saves_notes, unsaved
from .plan import Exchange, exchanges, next_calls
from .tool_results import tidy
from .turns import Call, Turn
from .values import Values

PREAMBLE = "Let me look into that."


def decide(incoming: Incoming, family: Family) -> Turn:
    """Return the next turn: calls while something is left to look up, else the answer."""
    if (page := page_turn(incoming)) is not None:
        return page
    made = exchanges(incoming)
    calls = next_calls(incoming, made) if incoming.may_call else []
    if calls:
        starts = family.preamble and not rounds(incoming) and not saves_notes(calls[0].name)
        preamble = PREAMBLE if starts else ""
        return Turn(preamble, think(incoming, made, calls), tuple(calls))
    return Turn(_in_response_format(incoming, compose(incoming, made)), think(incoming, made, calls))


def think(incoming: Incoming, made: list[Exchange], calls: list[Call]) -> str:
    """Return the reasoning of a step."""
    asked = tidy(incoming.question, 160)
    intro = _about(made) if made else f'The user says: "{asked}".'
    if calls:
        names = ", ".join(f"{call.name} ({_short(call)})" for call in calls)
        guess = "I should not guess, so I call" if not saves_notes(calls[0].name) else "To save it I call"
        word = "Next I call" if made else guess
        return f"{intro} {word} {names}."
    if made and not is_answered(made):
        return f"{intro} Nothing in them is about that, and I will say so."
    if made:
        return f"{intro} That is enough. I will quote what answers the question and name the sources."
    if unsaved(incoming, []):
        return f"{intro} I cannot save that note, and I will say why."
    return f"{intro} No tool is needed for that; a short, friendly answer will do."


def _about(made: list[Exchange]) -> str:
    failed = sum(1 for exchange in made if exchange.result.error)
    sources = len({item.page for one in made if not saves_notes(one.name) for item in one.result.items})
    summary = (
        f"I have {len(made)} result{'s' if len(made) != 1 else ''} with {sources} source{'s' if sources != 1 else ''}."
    )
    return f"{summary} {failed} of them failed, and I will say so." if failed else summary


def _short(call: Call) -> str:
    return ", ".join(f"{name}: {value}" for name, value in call.arguments.items()) or "no arguments"


def _in_response_format(incoming: Incoming, text: str) -> str:
    """Return the answer as JSON if the request's response_format asks for it."""
    settings = as_object(incoming.body.get("response_format"))
    match settings.get("type"):
        case "json_object":
            return orjson.dumps({"answer": text}).decode()
        case "json_schema":
            schema = as_object(as_object(settings.get("json_schema")).get("schema"))
            return orjson.dumps(Values(text, schema).value({"type": "object", **schema}, "answer", depth=1)).decode()
        case _:
            return text
