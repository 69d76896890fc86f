"""Composes the text of an answer from the tool results in the request."""

import re
from datetime import datetime
from typing import Any

from ..http.incoming import Incoming, calls_of, is_named
from ..json_values import as_objects
from ..products import found_products, is_product_search
from .formulas import Formula, formula_in, shown_result
from .intents import SMALL_TALK
from .notes import saves_notes, split_note, unsaved
from .plan import Exchange, first_argument, wanted
from .programs import asks_for_program, program
from .search_results import found, read_searches
from .tool_results import tidy

WHO = (
    "I am a **simulated model**: a small set of rules inside Signalbox that imitates the API of {model}. "
    "I know no facts. I can search, calculate and tell the time with the tools of this chat, and I "
    "answer from their results. Set `OPENROUTER_API_KEY` to talk to a real model."
)
HELLO = (
    "Hello! I am a simulated model, so you can try Signalbox without an API key. Ask me to look something up, "
    "give me something to calculate, or ask what time it is somewhere. For example: "
    "*What time is it in Tokyo, what is 17 * 23, and how do tool calls stream?*"
)
NO_TOOLS = (
    "I am a simulated model that knows no facts, and this request offers no tool that I can use, "
    "so I cannot answer that. With a search tool, I would look up: *{topic}*."
)
CHAT = (
    "I am a simulated model that follows a few rules, so I cannot help with “{question}”. I can use tools: ask me to "
    "look something up, give me something to calculate, or ask what time it is somewhere."
)


def compose(incoming: Incoming, made: list[Exchange]) -> str:
    """Return the answer to the question, from the tool results."""
    if not made:
        return _talk(incoming)
    question = split_note(incoming.question)[0]
    searches = [exchange for exchange in made if _is_search(exchange)]
    formula = formula_in(question)
    calculated = [one for one in made if formula and not one.result.error and first_argument(one) == formula.expression]
    lines = [_line(exchange) for exchange in made if not _is_search(exchange) and exchange not in calculated]
    parts = [program(question)] if asks_for_program(question) else []
    parts += [_calculation(formula, exchange) for exchange in calculated if formula]
    parts.append("\n".join(f"- {line}" for line in lines) if len(lines) > 1 else "".join(lines))
    if searches:
        parts.append(found(searches, question))
    parts.append(unsaved(incoming, [exchange.name for exchange in made]))
    return "\n\n".join(part for part in parts if part)


def is_answered(made: list[Exchange]) -> bool:
    """Return whether any result is about the question; a failure counts, because the answer reports it."""
    searches = [exchange for exchange in made if _is_search(exchange)]
    return len(searches) < len(made) or any(one.about or one.exchange.result.error for one in read_searches(searches))


def _is_search(exchange: Exchange) -> bool:
    # The result of a saved note has a title and a URL, but is not a source.
    if is_product_search(exchange.name):
        return False
    return is_named(exchange.name, "search") or (bool(exchange.result.items) and not saves_notes(exchange.name))


def _talk(incoming: Incoming) -> str:
    if why := unsaved(incoming, []):
        return why
    question = incoming.question.strip()
    if re.search(
        r"\b(?:who|what) are you|your name|simulated|what model|which model|are you\b", question, re.IGNORECASE
    ):
        return WHO.format(model=incoming.model)
    if re.search(r"\bwhat did i (?:ask|say)", question, re.IGNORECASE):
        return _earlier(incoming)
    if re.match(r"\W*thank", question, re.IGNORECASE):
        return "You're welcome!"
    if SMALL_TALK.match(question) or not question:
        return HELLO
    if asks_for_program(question):
        return program(question)
    if asked := wanted(incoming):
        return NO_TOOLS.format(topic=tidy(asked[0][0].subject or question, 80))
    if any(part.get("type") == "image_url" for part in _parts(incoming)):
        return "I can see that you attached an image, but a simulated model cannot see what is in it."
    return CHAT.format(question=tidy(question, 80))


def _parts(incoming: Incoming) -> list[dict[str, Any]]:
    return as_objects(incoming.messages[incoming.question_at].get("content")) if incoming.question_at >= 0 else []


def _earlier(incoming: Incoming) -> str:
    before = incoming.earlier
    return f"Before this you asked: “{tidy(before[-1], 200)}”" if before else "This is your first message to me."


def _line(exchange: Exchange) -> str:
    """Return one line about a result that is not a search."""
    result = exchange.result
    if is_product_search(exchange.name):
        return found_products(result, first_argument(exchange))
    if result.error:
        return f"`{exchange.name}` failed: {tidy(result.error, 200)}"
    if is_named(exchange.name, "calc", "math"):
        asked = first_argument(exchange)
        return f"`{asked}` = **{_plain(exchange, 'text', 'value', 'result', 'answer')}**"
    if is_named(exchange.name, "time", "date", "clock"):
        return _time(exchange)
    if saves_notes(exchange.name) and result.field("saved") is not False:
        return _saved(exchange)
    return f"`{exchange.name}` returned: {_plain(exchange, 'result', 'value', 'text', 'content')}"


def _calculation(formula: Formula, exchange: Exchange) -> str:
    """Return a calculation: formula, values and the calculator's result."""
    values = "\n".join(f"- ${symbol}$ is {meaning}: {value}" for symbol, meaning, value in formula.values)
    result = shown_result(formula, _plain(exchange, "result", "value", "text", "answer"))
    return (
        f"{formula.name}:\n\n$$\n{formula.latex}\n$$\n\n{values}\n\nThe calculator gives **{result}** {formula.unit}."
    )


def _plain(exchange: Exchange, *names: str) -> str:
    found = exchange.result.field(*names)
    value = exchange.result.value if found is None else found
    return tidy(str(value), 600) if not isinstance(value, bool | int | float) else str(value)


def _time(exchange: Exchange) -> str:
    zone = exchange.result.field("timezone", "time_zone", "zone", "tz") or first_argument(exchange)
    text = _plain(exchange, "timestamp", "iso", "datetime", "local_time", "now", "time", "date")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return f"The clock says {text}{f' ({zone})' if zone and zone not in text else ''}."
    time = f"{moment:%H:%M} on {moment:%A}, {moment.day} {moment:%B %Y}"
    return f"In {str(zone).rpartition('/')[2].replace('_', ' ')} it is **{time}**." if zone else f"It is **{time}**."


def _saved(exchange: Exchange) -> str:
    title = exchange.result.field("title") or first_argument(exchange)
    file = exchange.result.field("file", "path")
    return f"I saved the note “{tidy(str(title), 120)}”{f' as `{file}`' if file else ''}."


def rounds(incoming: Incoming) -> int:
    """Return the number of steps of this loop that have calls."""
    return sum(1 for _, message in incoming.loop() if calls_of(message))
