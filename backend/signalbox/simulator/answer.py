"""The words of the answer, composed from the tool results that were really sent."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .incoming import Incoming, calls_of, is_named
from .intents import SMALL_TALK
from .plan import Exchange, wanted
from .relevance import is_about, quote, shared, telling
from .results import Item, tidy
from .shapes import as_object, as_objects

WHO = (
    "I am a **simulated model**: a small set of rules that runs inside Signalbox and speaks like {model} on the wire. "
    "I have no knowledge of my own. I can search, calculate and read the clock with the tools I am offered, and I "
    "answer from what they return. Set `OPENROUTER_API_KEY` to talk to a real model."
)
HELLO = (
    "Hello! I am a simulated model, here so that you can try Signalbox without a key. Ask me about "
    "something and I will search for it, give me a sum, or ask what time it is somewhere. For example: "
    "*What time is it in Tokyo, what is 17 * 23, and how do tool calls stream?*"
)
NO_TOOLS = (
    "I am a simulated model without knowledge of my own, and no tool is open to me in this request, so I cannot "
    "answer that. With a search tool I would look up: *{topic}*."
)
CHAT = (
    "I am a simulated model: a few rules, no imagination, so I cannot really help with “{said}”. What I can do is use "
    "tools: ask me a question and I will search, give me a sum, or ask for the time somewhere."
)


def compose(incoming: Incoming, made: list[Exchange]) -> str:
    """Write the answer to the question from what the tools returned."""
    if not made:
        return _talk(incoming)
    searches = [exchange for exchange in made if _is_search(exchange)]
    lines = [_line(exchange) for exchange in made if not _is_search(exchange)]
    parts = ["\n".join(f"- {line}" for line in lines) if len(lines) > 1 else "".join(lines)]
    if searches:
        parts.append(_found(searches))
    return "\n\n".join(part for part in parts if part)


def is_answered(made: list[Exchange]) -> bool:
    """Tell whether any result bears on what was asked; a failure is told as one."""
    searches = [exchange for exchange in made if _is_search(exchange)]
    return len(searches) < len(made) or any(one.about or one.exchange.result.error for one in _read(searches))


def _is_search(exchange: Exchange) -> bool:
    return is_named(exchange.name, "search") or bool(exchange.result.items)


def _talk(incoming: Incoming) -> str:
    said = incoming.question.strip()
    if re.search(r"\b(?:who|what) are you|your name|simulated|what model|which model|are you\b", said, re.IGNORECASE):
        return WHO.format(model=incoming.model)
    if re.search(r"\bwhat did i (?:ask|say)", said, re.IGNORECASE):
        return _earlier(incoming)
    if re.match(r"\W*thank", said, re.IGNORECASE):
        return "You are welcome!"
    if SMALL_TALK.match(said) or not said:
        return HELLO
    if asked := wanted(incoming):
        return NO_TOOLS.format(topic=tidy(asked[0][0].subject or said, 80))
    if any(part.get("type") == "image_url" for part in _parts(incoming)):
        return "I can see that you attached an image, but a simulated model cannot look at it."
    return CHAT.format(said=tidy(said, 80))


def _parts(incoming: Incoming) -> list[dict[str, Any]]:
    return as_objects(incoming.messages[incoming.question_at].get("content")) if incoming.question_at >= 0 else []


def _earlier(incoming: Incoming) -> str:
    before = incoming.earlier
    return f"Before this you asked: “{tidy(before[-1], 200)}”" if before else "This is your first message to me."


def _line(exchange: Exchange) -> str:
    """Say one result that is not a search."""
    result = exchange.result
    if result.error:
        return f"`{exchange.name}` did not work: {tidy(result.error, 200)}"
    if is_named(exchange.name, "calc", "math"):
        asked = _first_argument(exchange)
        return f"`{asked}` = **{_plain(exchange, 'text', 'value', 'result', 'answer')}**"
    if is_named(exchange.name, "time", "date", "clock"):
        return _time(exchange)
    return f"`{exchange.name}` returned: {_plain(exchange, 'result', 'value', 'text', 'content')}"


def _first_argument(exchange: Exchange) -> str:
    return str(next(iter(as_object(exchange.arguments).values()), ""))


def _plain(exchange: Exchange, *names: str) -> str:
    found = exchange.result.field(*names)
    value = exchange.result.value if found is None else found
    return tidy(str(value), 600) if not isinstance(value, bool | int | float) else str(value)


def _time(exchange: Exchange) -> str:
    zone = exchange.result.field("timezone", "time_zone", "zone", "tz") or _first_argument(exchange)
    text = _plain(exchange, "timestamp", "iso", "datetime", "local_time", "now", "time", "date")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return f"The clock says {text}{f' ({zone})' if zone and zone not in text else ''}."
    said = f"{moment:%H:%M} on {moment:%A}, {moment.day} {moment:%B %Y}"
    return f"In {str(zone).rpartition('/')[2].replace('_', ' ')} it is **{said}**." if zone else f"It is **{said}**."


@dataclass(frozen=True, slots=True)
class _Search:
    """A search that was made, and what of it is about what was asked."""

    exchange: Exchange
    query: str
    words: set[str]
    about: list[Item]


def _found(searches: list[Exchange]) -> str:
    """Quote what the searches brought, each source once, with its number; or say that they brought nothing."""
    read = _read(searches)
    shown: set[str] = set()
    sections = [_section(one, shown, several=len(read) > 1) for one in read]
    notices = dict.fromkeys(str(exchange.result.field("notice") or "") for exchange in searches)
    return "\n\n".join(section for section in (*sections, *notices) if section)


def _read(searches: list[Exchange]) -> list[_Search]:
    """Sort what was found into what bears on each search; one that only tried again with fewer words is left out."""
    brought = [item for exchange in searches for item in exchange.result.items]
    read: list[_Search] = []
    for exchange in searches:
        query = _first_argument(exchange)
        words = telling(query)
        held = {word for item in brought for word in shared(words, _said(item))}
        about = [item for item in exchange.result.items if shared(words, _said(item)) or not words]
        about = about if is_about(words, held) else []
        if about and read and words < read[-1].words and not read[-1].exchange.result.items:
            read.pop()
        elif not about and any(words <= other.words for other in read) and not exchange.result.error:
            continue
        read.append(_Search(exchange, query, words, about))
    return read


def _said(item: Item) -> str:
    return f"{item.title} {item.snippet}"


def _section(search: _Search, shown: set[str], *, several: bool) -> str:
    if search.exchange.result.error:
        named = f"The search for “{search.query}”" if search.query else "The search"
        return f"{named} did not work: {tidy(search.exchange.result.error, 200)}"
    if not search.about:
        return _nothing(search)
    items = [item for item in search.about if (item.url or item.title) not in shown]
    if not items:
        return ""
    shown.update(item.url or item.title for item in items)
    lead = f"**{search.query}**" if several else f"Here is what I found about **{search.query}**:"
    return lead + "\n\n" + "\n".join(_bullet(item) for item in items[:5])


def _nothing(search: _Search) -> str:
    """Say that nothing was found on it; what was found instead is named, and not quoted."""
    result = search.exchange.result
    if isinstance(result.value, str) and result.value.strip():
        return f"The search for “{search.query}” returned: {tidy(result.value, 600)}"
    where = "The documents here hold nothing" if result.field("searched") == "docs" else "The search found nothing"
    said = f"{where} on **{search.query}**." if search.query else f"{where} on that."
    if not result.items:
        return said
    nearest = "\n".join(f"- {item.title}{_mark(item)}" for item in result.items[:3])
    return f"{said} What came up is about other things:\n\n{nearest}"


def _bullet(item: Item) -> str:
    return f"- **{item.title}**" + (f": {quote(item.snippet, 360)}" if item.snippet else "") + _mark(item)


def _mark(item: Item) -> str:
    return f" [{item.n}]" if item.n is not None else (f" ({item.url})" if item.url else "")


def rounds(incoming: Incoming) -> int:
    """Count the steps of this loop that asked for tools."""
    return sum(1 for _, message in incoming.loop() if calls_of(message))
